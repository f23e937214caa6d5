// What made a table: a file that is opened or dropped, the answer in a sentence, and three
// pictures.
import assert from 'node:assert/strict';
import {mkdtemp, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {
    addressOfRequest,
    factsOf,
    orderColumns,
    settingsOf,
} from '../../server/visualiser/identify.js';
import {
    layoutsOf,
    npyLayout,
    readMatrix,
    safetensorsLayouts,
} from '../../server/visualiser/table_file.js';
import {
    assertAccessible,
    drawn,
    escape,
    eventually,
    open,
    pageTest,
    screenshot,
    url,
    withServer,
} from './harness.js';

const ROPE = '/v1/encodings/rope?length=200&dim=32&table=full&tensor=cos&format=npy';
const fetchBytes = async (target) =>
    Buffer.from(await (await fetch(url + target)).arrayBuffer());

async function fileOf(name, bytes) {
    const path = join(await mkdtemp(join(tmpdir(), 'table-')), name);
    await writeFile(path, bytes);
    return path;
}

// The bytes of an npy file of one row-major or Fortran matrix of float32.
function npyOf(rows, columns, values, fortran = false) {
    const header =
        (
            `{'descr': '<f4', 'fortran_order': ${fortran ? 'True' : 'False'}, ` +
            `'shape': (${rows}, ${columns}), }`
        ).padEnd(117) + '\n';
    const head = Buffer.from([0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59, 1, 0, header.length, 0]);
    return Buffer.concat([
        head,
        Buffer.from(header),
        Buffer.from(Float32Array.from(values).buffer),
    ]);
}

const begin = async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    await page.click('#identify-button');
};
const answered = (page, pattern) =>
    page.waitForFunction(
        (source) =>
            new RegExp(source).test(document.querySelector('#identify-result').innerText),
        pattern.source,
    );
const captions = (page) =>
    page.$$eval('#identify-pictures figcaption', (all) => all.map((each) => each.innerText));

test('a request becomes settings and an address of the page', () => {
    const target = '/v1/encodings/rope?length=4&dim=8&tensor=cos&dtype=f16';
    assert.deepEqual(settingsOf(target), {
        scheme: 'rope',
        parameters: {length: '4', dim: '8', dtype: 'f16'},
        tensor: 'cos',
    });
    assert.equal(
        addressOfRequest(target),
        '?scheme=rope&length=4&dim=8&dtype=f16&view.tensor=cos',
    );
    assert.deepEqual(factsOf({learned: {waves: 2, frequency: 0.5}, gave_up: false}), []);
    assert.doesNotMatch(String(factsOf({arithmetic: 'like_float32'})), /_/);
    const facts = Object.fromEntries(
        factsOf({
            arithmetic: 'float32',
            computation: 'all in bfloat16',
            misfits: 9,
            exceptions: {rows: [4, 7], columns: [3], entries: [[1, 2]]},
            learned: {waves: 0},
        }),
    );
    assert.deepEqual(facts, {
        Arithmetic: 'float32: all in bfloat16',
        'Entries that do not fit': '9: rows 4, 7, column 3, [1, 2]',
    });
});

test('matrices are read in both orders, and transposed', async () => {
    const expected = [0, 1, 2, 3, 4, 5]; // [2, 3]
    const turned = [0, 3, 1, 4, 2, 5];
    for (const [rows, columns, values, fortran, transposed] of [
        [2, 3, expected, false, false],
        [2, 3, turned, true, false],
        [3, 2, turned, false, true],
        [3, 2, expected, true, true],
    ]) {
        const file = new File([npyOf(rows, columns, values, fortran)], 'a.npy');
        const matrix = await readMatrix(file, await npyLayout(file), transposed);
        assert.deepEqual(
            [matrix.rows, matrix.columns, [...matrix.data]],
            [2, 3, expected],
            `${fortran} ${transposed}`,
        );
    }
    assert.equal(await npyLayout(new File(['nothing of the kind'], 'a.npy')), null);
    assert.deepEqual(await safetensorsLayouts(new File(['x'.repeat(40)], 'a.safetensors')), {});
    const answer = new File(['{"tensors": [{"name": "cos"}, {"name": "sin"}]}'], 'a.json');
    assert.deepEqual(await layoutsOf(answer), {cos: null, sin: null});
});

test('columns come in the order of the exact table', () => {
    const matrix = {rows: 2, columns: 3, data: [0, 1, 2, 3, 4, 5]};
    assert.equal(orderColumns(matrix, undefined), matrix);
    assert.deepEqual([...orderColumns(matrix, [2, 0, 1]).data], [2, 0, 1, 5, 3, 4]);
});

pageTest(
    'a table with its columns in another order is drawn in that of the exact one',
    {},
    async (page) => {
        await begin(page);
        const table = new Float32Array(
            (await fetchBytes('/v1/encodings/sinusoidal?length=64&dim=16&format=raw')).buffer,
        );
        const reversed = Array.from(
            {length: 64 * 16},
            (_, i) => table[i - (i % 16) + 15 - (i % 16)],
        );
        await page.setInputFiles(
            '#identify-file',
            await fileOf('reversed.npy', npyOf(64, 16, reversed)),
        );
        await answered(page, /bit for bit; with its columns in another order/);
        await page.waitForSelector('#identify-pictures canvas');
        const told = await captions(page);
        assert.match(told[0], /columns ordered/);
        assert.match(told[2], /no difference/);
    },
);

pageTest(
    'an exact table is answered in a sentence and drawn beside the exact one',
    {},
    async (page) => {
        await begin(page);
        await page.setInputFiles(
            '#identify-file',
            await fileOf('cos.npy', await fetchBytes(ROPE)),
        );
        await answered(page, /bit for bit/);
        assert.match(await page.innerText('#identify-result'), /cos of rope/);
        assert.match(await page.innerText('#identify-result'), /gpt_neox/);
        await page.waitForSelector('#identify-pictures canvas');
        const told = await captions(page);
        assert.equal(told.length, 3);
        assert.match(told[2], /no difference/);
        await assertAccessible(page);
        await screenshot(page, 'identify-exact');
        await page.click('#identify-result a');
        await drawn(page);
        const shown = new URL(page.url()).searchParams;
        assert.deepEqual(
            [shown.get('scheme'), shown.get('dim'), shown.get('view.tensor')],
            ['rope', '32', 'cos'],
        );
    },
);

pageTest(
    'a table of a float32 recipe is a match, in the dark too, and its errors are drawn',
    {colorScheme: 'dark'},
    async (page) => {
        await begin(page);
        const values = [];
        const frequencies = Array.from({length: 16}, (_, i) =>
            Math.fround(1 / Math.fround(10000 ** Math.fround(i / 16))),
        );
        for (let row = 0; row < 300; row++)
            for (let column = 0; column < 32; column++)
                values.push(Math.fround(Math.cos(Math.fround(row * frequencies[column % 16]))));
        await page.setInputFiles(
            '#identify-file',
            await fileOf('cached.npy', npyOf(300, 32, values)),
        );
        await answered(page, /computed in float32/);
        await page.waitForSelector('#identify-pictures canvas');
        assert.match(await page.innerText('#identify-result'), /Largest error/);
        assert.doesNotMatch((await captions(page))[2], /no difference/);
        await assertAccessible(page);
        await screenshot(page, 'identify-match-dark');
    },
);

pageTest(
    'a file of several tensors that is dropped asks for one; what is unknown says so',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        const bytes = await fetchBytes(
            '/v1/encodings/rope?length=64&dim=16&format=safetensors',
        );
        const drop = (name, content) =>
            page.evaluate(
                ([title, text]) => {
                    const dataTransfer = new DataTransfer();
                    dataTransfer.items.add(
                        new File(
                            [Uint8Array.from(atob(text), (each) => each.charCodeAt(0))],
                            title,
                        ),
                    );
                    document.body.dispatchEvent(
                        new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer}),
                    );
                },
                [name, content.toString('base64')],
            );
        await drop('model.safetensors', bytes);
        await page.waitForSelector('#identify-tensor:visible');
        assert.equal(await page.isVisible('#model'), false, 'it is no config.json');
        await page.selectOption('#identify-tensor', 'sin');
        await answered(page, /sin of rope/);
        await page.waitForSelector('#identify-pictures canvas');
        await drop(
            'random.npy',
            npyOf(
                20,
                8,
                Array.from({length: 160}, (_, i) => Math.sin(i * i * 7.1)),
            ),
        );
        await answered(page, /No request was found/);
        await eventually(async () => {
            const told = await captions(page);
            assert.equal(told.length, 1, 'the table by itself');
            assert.match(told[0], /^random\.npy/);
        });
        assert.equal(await page.isVisible('#identify-tensor'), false);
    },
);

pageTest(
    'what is no table is told, and Escape closes',
    {expected: /status of 4\d\d/, viewport: {width: 360, height: 740}},
    async (page) => {
        await begin(page);
        await page.setInputFiles(
            '#identify-file',
            await fileOf('bad.npy', Buffer.from('no numbers at all')),
        );
        await page.waitForSelector('#identify .error');
        await page.setInputFiles(
            '#identify-file',
            await fileOf('cos.npy', await fetchBytes(ROPE)),
        );
        await answered(page, /bit for bit/);
        await page.waitForSelector('#identify-pictures canvas');
        assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
        await screenshot(page, 'identify-360');
        await page.focus('#identify-file');
        await escape(page);
        assert.equal(await page.isVisible('#identify'), false);
        assert.equal(await page.evaluate(() => document.activeElement.id), 'identify-button');
    },
);

pageTest(
    'a key that is typed asks again, and a file that has changed is opened again',
    {expected: /status of 401/},
    async (page) => {
        const key = await fileOf('key', 'a-key-of-tables-for-tests');
        const path = await fileOf('a.npy', await fetchBytes(ROPE));
        const choose = async () => {
            const [chooser] = await Promise.all([
                page.waitForEvent('filechooser'),
                page.click('#identify-file'),
            ]);
            await chooser.setFiles(path);
        };
        await withServer(
            page,
            ['--tables', 'key', '--tables-key-file', key],
            async (address) => {
                await page.goto(address);
                await drawn(page);
                await page.click('#identify-button');
                await choose();
                await answered(page, /with its key alone: type it above/);
                await page.keyboard.type('wrong');
                await page.keyboard.press('Enter');
                await answered(page, /not the server’s key/);
                await page.fill('#identify-key', 'a-key-of-tables-for-tests');
                await page.keyboard.press('Enter');
                await answered(page, /cos of rope/);
                await writeFile(path, npyOf(2, 2, [0, 0, 0, 0]));
                await choose();
                await answered(page, /a\.npy (?!.*rope)/);
            },
        );
    },
);

// Tables that are made of a request's: what the page shows of each, beside what it says.
const MADE = [
    ['one entry wrong', (at, row, k) => at(row, k) + (row === 5 && k === 3 ? 0.01 : 0), 8, 3],
    ['a row twice', (at, row, k) => at(row === 17 ? 16 : row, k), 8, 3],
    ['twice side by side', (at, row, k) => at(row, k % 8), 16, 1],
    ['columns of zeros', (at, row, k) => (k < 8 ? at(row, k) : 0), 12, 1],
    ['every column twice', (at, row, k) => at(row, k >> 1), 16, 1],
    ['sines, then cosines', (at, row, k) => at(row, k < 4 ? 2 * k : 2 * k - 7), 8, 3],
    ['eight times as large', (at, row, k) => 8 * at(row, k), 8, 3],
    ['of other signs', (at, row, k) => -at(row, k), 8, 3, /Exact, times -1.*no diff/s],
    ['from 0 to 4', (at, row, k) => 2 * at(row, k) + 2, 8, 3, /plus 2.*exact\n-\d\S+e-/s],
];

pageTest('every answer has a picture or a sentence', {}, async (page) => {
    const exact = new Float32Array(
        (await fetchBytes('/v1/encodings/sinusoidal?length=64&dim=8&format=raw')).buffer,
    );
    const at = (row, k) => exact[8 * row + k];
    await begin(page);
    for (const [name, make, columns, pictures, told = /(?:)/] of MADE) {
        const values = Array.from({length: 64 * columns}, (_, i) =>
            make(at, Math.floor(i / columns), i % columns),
        );
        const file = `${name}.npy`;
        await page.setInputFiles(
            '#identify-file',
            await fileOf(file, npyOf(64, columns, values)),
        );
        await answered(page, new RegExp(`${name}\\.npy (Exact|Match|Near|Unknown)`));
        await eventually(async () =>
            assert.equal((await captions(page)).length, pictures, name),
        );
        assert.match((await captions(page)).join('\n'), told, name);
        const said = await page.innerText('#identify-result');
        assert.doesNotMatch(said, /cannot be identified|ended early/, name);
        assert.equal(/stand elsewhere in this file/.test(said), pictures === 1, name);
    }
});

pageTest(
    'rows that are not drawn are told, as is a table of which none are',
    {},
    async (page) => {
        await begin(page);
        const heads = await fetchBytes('/v1/encodings/alibi?length=16&heads=2&format=npy');
        const swapped = Buffer.from(npyOf(8, 8, Array(64).fill(0)));
        swapped.write('>', swapped.indexOf('<f4'));
        for (const [name, bytes, told] of [
            ['heads.npy', heads, /alibi[^]*Only the first 16 of 32 rows are drawn\./],
            [
                'swapped.npy',
                swapped,
                /swapped[^]*The page draws no table of this format, dtype/,
            ],
        ]) {
            await page.setInputFiles('#identify-file', await fileOf(name, bytes));
            await answered(page, told);
        }
    },
);
