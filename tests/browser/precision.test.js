// The precision view: its recipes against torch's results, and its words against a computation
// of their own.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {round} from '../../server/visualiser/numbers.js';
import {RECIPES, entryOf, exponentsOf, unitOf} from '../../server/visualiser/recipes.js';
import {drawn, open, pageTest, readout, url} from './harness.js';

const {fround} = Math;
const bitsOf = (value) => new Int32Array(new Float32Array([value]).buffer)[0];
const recipeOf = (name) => RECIPES.find((each) => each.name === name);

// Written by torch 1.13 on an x86-64 processor, dim 64, base 10000.0:
//   exponential: torch.exp(torch.arange(0, 64, 2).float() * (-math.log(10000.0) / 64))
//   power: 1.0 / 10000.0 ** (torch.arange(0, 64, 2, dtype=torch.int64).float() / 64)
// as the bits of float32; then torch.sin(position * frequency) in the column named.
const TORCH = {
    exponential: `
        3f800000 3f3ff911 3f0ff59a 3ed7e89a 3ea1e89b 3e72d422 3e361887 3e088d77
        3dcccccc 3d99940d 3d6655c1 3d2cba16 3d0186e2 3cc2434e 3c91ad3a 3c5a7bf1
        3c23d70a 3bf5b9ad 3bb8449a 3b8a2e75 3b4f3e33 3b1b690e 3ae91528 3aaec98e
        3a83126e 3a44948a 3a136a14 39dd1722 39a5cb60 3978a80d 393a7753 390bd46d`,
    power: `
        3f800000 3f3ff911 3f0ff59a 3ed7e89b 3ea1e89b 3e72d423 3e361887 3e088d77
        3dcccccd 3d99940d 3d6655c2 3d2cba15 3d0186e3 3cc2434f 3c91ad39 3c5a7bf2
        3c23d70a 3bf5b9b0 3bb8449c 3b8a2e77 3b4f3e38 3b1b690d 3ae91528 3aaec98e
        3a83126f 3a44948c 3a136a16 39dd1725 39a5cb60 3978a815 393a7753 390bd472`,
};
const SINES = [
    ['exponential', 64, 10000, 131071, 3, -0.8422588109970093],
    ['exponential', 64, 10000, 1000000, 3, 0.467851847410202],
    ['exponential', 128, 500000, 131071, 3, -0.8308921456336975],
    ['power', 64, 10000, 131071, 3, -0.8401466012001038],
    ['power', 64, 10000, 1000000, 1, 0.7428511381149292],
    ['power', 128, 500000, 131071, 2, 0.6806175708770752],
];

test('frequencies are torch’s: of the power bit for bit, of the exponential to a unit', () => {
    for (const [name, most] of [
        ['power', 0],
        ['exponential', 1],
    ])
        TORCH[name]
            .trim()
            .split(/\s+/)
            .forEach((word, i) => {
                const made = recipeOf(name).frequency({
                    base: 10000,
                    numerator: 2 * i,
                    denominator: 64,
                });
                assert.ok(
                    Math.abs(bitsOf(made) - parseInt(word, 16)) <= most,
                    `${name} ${i}: ${made}`,
                );
            });
});

test('sines at far positions are torch’s', () => {
    for (const [name, dim, base, position, i, sine] of SINES) {
        const frequency = recipeOf(name).frequency({base, numerator: 2 * i, denominator: dim});
        assert.equal(
            entryOf({frequency, sine: true, amplitude: 1}, position),
            sine,
            `${name} ${dim} ${position}`,
        );
    }
});

test('frequencies are recognised, also those of a scaled base, and strangers are not', () => {
    const wavelengths = (base, dim, count) =>
        Float64Array.from({length: count}, (_, i) => 2 * Math.PI * base ** ((2 * i) / dim));
    assert.deepEqual(
        exponentsOf(wavelengths(10000, 64, 32), 10000).numerators,
        Array.from({length: 32}, (_, i) => 2 * i),
    );
    assert.equal(exponentsOf(wavelengths(10000, 62, 32), 10000).denominator, 62);
    const scaled = exponentsOf(wavelengths(41829.5, 64, 32), 10000);
    assert.ok(Math.abs(scaled.base / 41829.5 - 1) < 1e-12);
    assert.equal(scaled.numerators[31], 62);
    const strange = exponentsOf(Float64Array.from([6.3, 9, 70, 71, 500, NaN]), 10000);
    assert.ok(strange.numerators.every(Number.isNaN), String(strange.numerators));
});

test('a unit in the last place is the distance to the neighbour', () => {
    for (const value of [1, 0.75, fround(0.1), fround(1e-40), 2 ** -126, 0, fround(3e38)]) {
        const next = new Float32Array(new Int32Array([bitsOf(value) + 1]).buffer)[0];
        assert.equal(unitOf(value), next - value);
    }
});

// The recipes once more, each column on its own: frequencies of column j, and sine or cosine.
const OWN = {
    exponential: (i, dim, base) =>
        fround(Math.exp(fround(fround(2 * i) * fround(-Math.log(base) / dim)))),
    power: (i, dim, base) => fround(1 / fround(Math.pow(fround(base), fround((2 * i) / dim)))),
    rounded: (i, dim, base) => fround(base ** ((-2 * i) / dim)),
};

// The worst error of a table whose columns are interleaved, by the service's own exact entries.
async function worstOf(
    recipe,
    {dim, base, positions, amplitude = 1, interleaved = true, query},
) {
    const exact = new Float32Array(
        await (
            await fetch(`${url}/v1/encodings/${query}&positions=${positions}&format=raw`)
        ).arrayBuffer(),
    );
    const width = exact.length / positions.length;
    let worst = {error: 0},
        wrong = 0;
    positions.forEach((position, row) => {
        for (let column = 0; column < width; column++) {
            const phase = fround(
                fround(position) * OWN[recipe](interleaved ? column >> 1 : column, dim, base),
            );
            const wave = interleaved && column % 2 === 0 ? Math.sin(phase) : Math.cos(phase);
            const made = fround(fround(amplitude) * fround(wave)),
                right = exact[row * width + column];
            if (made !== right) wrong++;
            if (Math.abs(made - right) > Math.abs(worst.error))
                worst = {position, column, made, right, error: made - right};
        }
    });
    return {...worst, wrong, entries: exact.length};
}

const words = async (page) => {
    await page.waitForFunction(() => !document.querySelector('#view [aria-busy]'));
    return page.$$eval('.precision-words', (all) => all.map(({textContent}) => textContent));
};

function agrees(text, {position, column, made, right, wrong, entries}) {
    const [, at, dimension, recipe, exact] =
        /at position (-?\d+), dimension (\d+), it gives (\S+) where the exact value is (\S+)\. /.exec(
            text,
        );
    assert.deepEqual(
        [Number(at), Number(dimension), fround(recipe), fround(exact)],
        [position, column, made, right],
        text,
    );
    assert.ok(
        text.includes(
            `Of ${entries.toLocaleString('en')} entries ${wrong.toLocaleString('en')} (`,
        ),
        `${wrong}: ${text}`,
    );
}

const run = (first, count) => Array.from({length: count}, (_, i) => first + i);

pageTest('what is lost at position 131071 is told', {}, async (page) => {
    const made = {dim: 64, base: 10000, query: 'sinusoidal?dim=64'};
    await open(
        page,
        '?scheme=sinusoidal&length=16&dim=64&dtype=bf16&view=precision' +
            '&view.precision.stored=f32',
    );
    const [text] = await words(page);
    agrees(text, await worstOf('exponential', {...made, positions: run(131008, 128)}));
    const middle = await worstOf('exponential', {...made, positions: [131071]});
    const [, error, dimension] =
        /at position 131071, the worst error is (\S+), in dimension (\d+)\./.exec(text);
    assert.equal(Number(dimension), middle.column);
    assert.ok(Math.abs(Number(error) / Math.abs(middle.error) - 1) < 1e-3, error);
    assert.ok(Math.abs(middle.error) > 1e-3, 'two decimal places are left');
    for (const recipe of ['power', 'rounded']) {
        await page.selectOption('#precision-recipe', recipe);
        await drawn(page);
        agrees(
            (await words(page))[0],
            await worstOf(recipe, {...made, positions: run(131008, 128)}),
        );
    }
});

pageTest('positions are chosen, in the address', {}, async (page) => {
    await open(
        page,
        '?scheme=sinusoidal&length=16&dim=32&base=700&amplitude=0.3&view=precision',
    );
    await words(page);
    // beyond 2^24, where float32 has no odd positions
    await page.fill('#precision-offset', '20000000');
    await page.keyboard.press('Enter');
    await drawn(page);
    await words(page);
    await page.fill('#precision-rows', '40');
    await page.keyboard.press('Enter');
    await drawn(page);
    assert.match(page.url(), /view\.precision\.offset=20000000&view\.precision\.rows=40/);
    const positions = run(20000000, 40);
    const rounded = await worstOf('exponential', {
        dim: 32,
        base: 700,
        amplitude: 0.3,
        query: 'sinusoidal?dim=32&base=700&amplitude=0.3',
        positions,
    });
    agrees((await words(page))[0], rounded);
    await page.focus('svg.chart');
    await page.keyboard.press('End');
    assert.match(
        await readout(page),
        /^position 20000039, dimension \d+: exact -?[\d.e-]+, recipe -?[\d.e-]+, error/,
    );
});

pageTest('the growth goes from 1 to a million', {}, async (page) => {
    await open(page, '?scheme=rope&length=16&dim=64&view=precision');
    await words(page);
    const rows = await page.$$eval('.precision-table tbody tr', (all) =>
        all.map((each) => [...each.children].map(({textContent}) => Number(textContent))),
    );
    assert.equal(rows.length, 19);
    for (const [start, error] of [rows[0], rows[9], rows[18]]) {
        const worst = await worstOf('power', {
            dim: 64,
            base: 10000,
            interleaved: false,
            query: 'rope?dim=64&tensor=cos',
            positions: run(start, 16),
        });
        assert.ok(
            Math.abs(error / Math.abs(worst.error) - 1) < 6e-3,
            `${start}: ${error}, not ${worst.error}`,
        );
    }
    assert.deepEqual([rows[0][0], rows[9][0], rows[18][0]], [1, 1000, 1000000]);
    assert.ok(rows[18][1] > 1000 * rows[0][1]);
});

// Half formats once more, by the bits of float32: bfloat16 is its upper half, halves to even;
// float16 has 10 bits behind the first one, and ends at 65504.
function bfloat16(value) {
    const bits = bitsOf(value),
        rest = bits & 0xffff;
    const up = rest > 0x8000 || (rest === 0x8000 && (bits & 0x10000) !== 0);
    return new Float32Array(new Int32Array([(bits & ~0xffff) + (up ? 0x10000 : 0)]).buffer)[0];
}
function float16(value) {
    if (value === 0) return value;
    const step = 2 ** (Math.max(-14, Math.floor(Math.log2(Math.abs(value)))) - 10);
    const near = value / step,
        low = Math.floor(near);
    const up = near - low > 0.5 || (near - low === 0.5 && low % 2 !== 0);
    const rounded = (up ? low + 1 : low) * step;
    return Math.abs(rounded) > 65504 ? Math.sign(value) * Infinity : rounded;
}
const HALF = {float16, bfloat16};

test('half formats are those of other arithmetic', () => {
    for (let i = 0; i < 4000; i++) {
        const value = fround(Math.sin(i * 12.9898) * 10 ** ((i % 13) - 7));
        for (const [dtype, half] of [
            ['bf16', bfloat16],
            ['f16', float16],
        ])
            assert.ok(Object.is(round(dtype, value), half(value)), `${dtype} ${value}`);
    }
    assert.equal(round('f16', 65519.9), 65504);
    assert.equal(round('f16', 65520), Infinity);
    assert.equal(round('bf16', 257), 256);
});

// The worst error of cosines with one stage in half precision; Infinity where there is no
// number.
async function halfWorst(stage, half, {dim, base, positions}) {
    const to = (name, value) => (name === stage ? half(value) : fround(value));
    const exact = new Float32Array(
        await (
            await fetch(
                `${url}/v1/encodings/rope?dim=${dim}&rope_theta=${base}&tensor=cos&format=raw` +
                    `&positions=${positions}`,
            )
        ).arrayBuffer(),
    );
    return positions.reduce((worst, position, row) => {
        for (let i = 0; i < dim / 2; i++) {
            const frequency = to('frequencies', OWN.power(i, dim, base));
            const angle = to('angles', to('positions', position) * frequency);
            const made = to('stored', fround(Math.cos(angle)));
            const error = Math.abs(made - exact[(row * dim) / 2 + i]);
            if (Number.isNaN(error)) return Infinity;
            if (error > worst) worst = error;
        }
        return worst;
    }, 0);
}

pageTest(
    'where half precision breaks RoPE at 128k is told stage by stage',
    {},
    async (page) => {
        const [dim, base] = [32, 500000];
        await open(page, `?scheme=rope&length=16&dim=${dim}&rope_theta=${base}&view=precision`);
        await words(page);
        const rows = await page.$$eval('.precision-halves tbody tr', (all) =>
            all.map((each) => [...each.children].map(({textContent}) => textContent)),
        );
        assert.equal(rows.length, 8);
        const starts = [0, 1, 2, 3, 4, 5].flatMap((e) =>
            [1, 2, 5].map((each) => each * 10 ** e),
        );
        for (const [name, worst, broken] of rows) {
            const [, stage, format] = /^(\w+) in (\w+)$/.exec(name);
            const mine = await halfWorst(stage, HALF[format], {
                dim,
                base,
                positions: run(131008, 128),
            });
            if (mine === Infinity) assert.equal(worst, 'no number', name);
            else
                assert.ok(
                    Math.abs(Number(worst) / mine - 1) < 1e-3,
                    `${name}: ${worst}, ${mine}`,
                );
            const at = broken === 'never' ? starts.length : starts.indexOf(Number(broken));
            for (const [k, wrong] of [
                [at - 1, false],
                [at, true],
            ]) {
                if (!(k >= 0 && k < starts.length)) continue;
                const positions = run(starts[k], 16);
                const error = await halfWorst(stage, HALF[format], {dim, base, positions});
                assert.equal(error >= 0.05, wrong, `${name} ${starts[k]}: ${error}`);
            }
        }
    },
);

pageTest('the dtype of a table is that of its stored values', {}, async (page) => {
    for (const [dtype, format] of [
        ['bf16', 'bfloat16'],
        ['f16', 'float16'],
    ]) {
        await open(page, `?scheme=rope&length=16&dim=32&dtype=${dtype}&view=precision`);
        const [text] = await words(page);
        const mine = await halfWorst('stored', HALF[format], {
            dim: 32,
            base: 10000,
            positions: run(131008, 128),
        });
        const told = /wrong by up to (\S+):/.exec(text)[1];
        assert.ok(Math.abs(Number(told) / mine - 1) < 1e-3, `${dtype}: ${told}, ${mine}`);
        await page.selectOption('#precision-stored', 'f32');
        await drawn(page);
        assert.notEqual((await words(page))[0], text);
    }
});

pageTest('two tables are judged side by side, a scaled base too', {}, async (page) => {
    await open(
        page,
        '?scheme=rope&length=16&dim=64&right.scheme=rope&right.length=16&right.dim=64' +
            '&right.rope_type=ntk&right.factor=4&view=precision',
    );
    const [left, right] = await words(page);
    assert.match(left, /^A: At positions 131008 to 131135/);
    assert.match(right, /^B: .*scaled base 41829\./);
    const base = 10000 * 4 ** (64 / 62);
    agrees(
        right,
        await worstOf('power', {
            dim: 64,
            base,
            interleaved: false,
            query: 'rope?dim=64&tensor=cos&rope_type=ntk&factor=4',
            positions: run(131008, 128),
        }),
    );
});

pageTest('columns at other frequencies are left out, and said to be', {}, async (page) => {
    await open(
        page,
        '?scheme=rope&length=16&dim=64&rope_type=llama3&factor=8' +
            '&original_max_position_embeddings=8192&view=precision',
    );
    assert.match(
        (await words(page))[0],
        /no plain sines or cosines at frequencies of this recipe: \d+ of 32\./,
    );
    await page.selectOption('#precision-recipe', 'rounded');
    await drawn(page);
    assert.doesNotMatch((await words(page))[0], /left out/);
});

pageTest('what cannot be computed is told', {}, async (page) => {
    await open(
        page,
        '?scheme=sinusoidal&length=8&dim=4&amplitude=0&view=precision&view.precision.rows=0' +
            '&view.precision.offset=soon',
    );
    assert.match((await words(page))[0], /^No column is a sine or a cosine/);
    assert.equal(
        await page.textContent('#precision-offset-error'),
        'soon cannot be had; 131008 is taken',
    );
    assert.equal(
        await page.textContent('#precision-rows-error'),
        '0 cannot be had; 128 is taken',
    );
});
