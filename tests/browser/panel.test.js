// The panel of settings: groups of schemes, essentials and the rest, help, Reset, differences,
// choices that ask for more.
import assert from 'node:assert/strict';
import {
    drawn,
    escape,
    findings,
    open,
    openMore,
    pageTest,
    schemes,
    settled,
    visit,
} from './harness.js';

const asked = (page, name) => new URLSearchParams(new URL(page.url()).search).get(name);

pageTest('schemes stand in groups, under their whole titles', {}, async (page) => {
    await open(page);
    await page.click('#left-scheme');
    const groups = Object.fromEntries(
        await page.$$eval('#left-scheme-list [role=group]', (all) =>
            all.map((group) => [
                group.querySelector('[role=presentation]').textContent,
                [...group.querySelectorAll('[role=option]')].map(({dataset, textContent}) => [
                    dataset.scheme,
                    textContent,
                ]),
            ]),
        ),
    );
    assert.deepEqual(Object.keys(groups), [
        'Absolute',
        'Absolute, of a grid',
        'Rotary',
        'Biases of attention scores',
        'Relative',
        'Learned',
    ]);
    const of = (group) => groups[group].map(([name]) => name);
    assert.ok(of('Absolute').includes('sinusoidal') && of('Learned').includes('learned'));
    assert.ok(of('Rotary').includes('rope') && of('Relative').includes('shaw'));
    assert.ok(of('Biases of attention scores').includes('t5'));
    const shown = Object.values(groups).flat().toSorted();
    assert.deepEqual(shown, schemes.map(({name, title}) => [name, title]).toSorted());
    assert.ok(
        await page.$$eval('#left-scheme-list [role=option]', (all) =>
            all.every((each) => each.scrollWidth <= each.clientWidth),
        ),
        'titles are whole',
    );
});

pageTest('a scheme is found by letters of its name, title or group', {}, async (page) => {
    await open(page);
    await page.click('#left-scheme');
    const shown = () =>
        page.$$eval('#left-scheme-list [role=option]:not([hidden])', (all) =>
            all.map(({dataset}) => dataset.scheme),
        );
    await page.keyboard.type('linear bi');
    assert.deepEqual(await shown(), ['alibi']);
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.search.includes('scheme=alibi'));
    await drawn(page);
    assert.equal(await page.textContent('#left-scheme'), 'ALiBi: attention with linear biases');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'left-scheme');
    await page.keyboard.press('Enter');
    await page.keyboard.type('rotary');
    assert.ok((await shown()).includes('xpos') && !(await shown()).includes('alibi'));
    await page.keyboard.type(' no such thing');
    assert.deepEqual(await shown(), []);
    assert.match(await page.textContent('#left-picker [role=status]'), /No scheme/);
    assert.deepEqual(await findings(page, '#left'), []);
    await escape(page);
    assert.equal(await page.isVisible('#left-picker .picker'), false);
    assert.match(page.url(), /scheme=alibi/);
});

// what people type, and a scheme that they mean
const TYPED = {
    yarn: 'rope',
    ntk: 'rope',
    llama: 'rope',
    qwen: 'mrope',
    bert: 'learned',
    gpt: 'learned',
    vit: 'learned',
    whisper: 'sinusoidal',
    nerf: 'fourier',
    timestep: 'sinusoidal',
    diffusion: 'sinusoidal',
    longrope: 'rope',
    'long context': 'alibi',
    'RoPE 2d': 'axial_rope',
    mask: 'alibi',
    sine: 'sinusoidal',
    cosine: 'sinusoidal',
    rope: 'rope',
    rotary: 'rope',
    alibi: 'alibi',
    t5: 't5',
    swin: 'swin',
    trained: 'learned',
    relative: 'shaw',
    bias: 'alibi',
    video: 'sinusoidal_3d',
    buckets: 't5',
    image: 'sinusoidal_2d',
    vaswani: 'sinusoidal',
    xlnet: 'transformer_xl',
};

pageTest('the picker finds what people type', {}, async (page) => {
    await open(page);
    await page.click('#left-scheme');
    const missed = [];
    for (const [typed, meant] of Object.entries(TYPED)) {
        await page.fill('#left-picker input', typed);
        const shown = await page.$$eval(
            '#left-scheme-list [role=option]:not([hidden])',
            (all) => all.map(({dataset}) => dataset.scheme),
        );
        if (!shown.includes(meant)) missed.push(`${typed}: ${shown}`);
    }
    assert.equal(Object.keys(TYPED).length, 30);
    assert.ok(missed.length <= 2, missed.join('; '));
    await page.fill('#left-picker input', 'yarn');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => location.search.includes('scheme=rope'));
    await drawn(page);
});

pageTest('a choice has its default once, and says what it fills in', {}, async (page) => {
    await open(page, '?scheme=rope&length=512&dim=64');
    const shown = () =>
        page.$$eval('#left-rope_type option:not([hidden])', (all) =>
            all.map(({textContent}) => textContent),
        );
    const before = await shown();
    assert.equal(new Set(before).size, before.length, String(before));
    await page.selectOption('#left-rope_type', 'yarn');
    await page.waitForFunction(() => location.search.includes('factor='));
    await drawn(page);
    assert.equal((await shown()).filter((each) => each === 'default').length, 1);
    assert.equal(
        await page.innerText('#strangers'),
        'Filled in: factor 4, original max position embeddings 128.',
    );
    assert.equal(asked(page, 'factor'), '4');
    assert.equal(await page.getAttribute('#tools input', 'placeholder'), '128');
});

pageTest(
    'a choice that the service refuses is not made, and is told why',
    {expected: /status of 4\d\d/},
    async (page) => {
        await open(page, '?scheme=rope&length=16&dim=8&cos_sin=true');
        await openMore(page);
        await page.selectOption('#left-table', 'full');
        await page.waitForFunction(() => document.querySelector('#strangers .told'));
        assert.match(await page.innerText('#strangers'), /^table stays as it was: .*cos_sin/);
        assert.equal(await page.inputValue('#left-table'), '');
        assert.equal(asked(page, 'table'), null);
        await drawn(page);
    },
);

pageTest('what replaces a setting takes it away', {expected: /4\d\d/}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8&offset=3');
    await openMore(page);
    await page.fill('#left-positions', '1,2,30');
    await page.waitForFunction(() => !location.search.includes('length='));
    await drawn(page);
    assert.deepEqual([asked(page, 'offset'), asked(page, 'positions')], [null, '1,2,30']);
});

pageTest('what differs from A is told in one line', {}, async (page) => {
    const rope = 'scheme=rope&length=16&dim=8';
    await open(
        page,
        `?${rope}&${rope.replace(/(^|&)/g, '$1right.')}&right.rope_type=yarn&right.factor=4` +
            '&right.original_max_position_embeddings=32',
    );
    const heights = await page.$$eval('#right .field .note', (all) =>
        all.filter(({textContent}) => textContent).map((each) => each.offsetHeight),
    );
    assert.ok(heights.length >= 3 && heights.every((each) => each < 25), String(heights));
});

pageTest(
    'what must be given and what the formula names comes first, all else under More',
    {},
    async (page) => {
        await open(page);
        for (const {name, parameters, formula} of schemes) {
            await visit(page, `?scheme=${name}`);
            const rest = await page.$$eval('#left .more [id$="-label"]', (all) =>
                all.map(({id}) => id.replace(/^left-|-label$/g, '')),
            );
            for (const parameter of parameters) {
                const first =
                    parameter.required ||
                    (!parameter.when && new RegExp(`\\b${parameter.name}\\b`).test(formula));
                if (first)
                    assert.ok(!rest.includes(parameter.name), `${name} ${parameter.name}`);
                if (parameter.name === 'dtype') assert.ok(rest.includes('dtype'), name);
            }
            assert.equal(await page.isVisible('#left-dtype'), false);
        }
    },
);

pageTest('help is shown for the field in use', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    assert.equal(await page.isVisible('.help-line'), false);
    await page.focus('#left-base');
    assert.equal(
        await page.textContent('#left .help-line'),
        await page.textContent('#left-base-help'),
    );
    assert.equal(await page.isVisible('#left .help-line'), true);
});

pageTest(
    'Reset leads back to where the scheme begins, and is one entry of the history',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal');
        const start = page.url();
        await page.fill('#left-base', '77');
        await drawn(page);
        await page.click('#left-reset');
        await page.waitForFunction((address) => location.href === address, start);
        await drawn(page);
        assert.equal(await page.inputValue('#left-base'), '');
        await page.goBack();
        await drawn(page);
        assert.equal(await page.inputValue('#left-base'), '77');
    },
);

pageTest('B marks what differs from A, and says what A has', {}, async (page) => {
    await open(
        page,
        '?scheme=rope&length=16&dim=8&right.scheme=rope&right.length=16&right.dim=8' +
            '&right.layout=interleaved&right.rope_theta=500',
    );
    const marked = () =>
        page.$$eval('#right .differs', (rows) =>
            rows.map((row) => [
                row.querySelector('label').textContent,
                row.querySelector('.note').textContent,
            ]),
        );
    assert.deepEqual(await marked(), [
        ['Rope theta', 'A: 10000'],
        ['Layout', 'A: half'],
    ]);
    assert.equal(
        await page.isVisible('#right-layout'),
        true,
        'More is open where something differs',
    );
    await page.fill('#left-rope_theta', '500');
    await drawn(page);
    assert.deepEqual(await marked(), [['Layout', 'A: half']]);
    assert.equal(await page.locator('#left .differs').count(), 0);
});

for (const {name, parameters} of schemes)
    for (const steering of parameters.filter((each) =>
        parameters.some(({when}) => when?.parameter === each.name),
    ))
        pageTest(
            `every ${steering.name} of ${name} works when it is chosen`,
            {expected: /status of 4\d\d/},
            async (page) => {
                await open(page, `?scheme=${name}`);
                for (const choice of steering.choices) {
                    await page.selectOption(`#left-${steering.name}`, {value: choice});
                    await page.waitForFunction(
                        ([key, value]) =>
                            new URLSearchParams(location.search).get(key) === value,
                        [steering.name, choice],
                    );
                    await drawn(page);
                    assert.equal(await page.isVisible('.error'), false, choice);
                    const needed = parameters.filter(
                        ({when}) =>
                            when?.parameter === steering.name &&
                            when.cases.some((each) => each.choice === choice && each.required),
                    );
                    for (const each of needed)
                        assert.notEqual(asked(page, each.name), null, `${choice} ${each.name}`);
                }
            },
        );

pageTest(
    'a choice goes to the first value that it needs',
    {expected: /status of 4\d\d/},
    async (page) => {
        await open(page, '?scheme=rope&length=64&dim=8');
        await page.selectOption('#left-rope_type', 'yarn');
        await page.waitForFunction(() => document.activeElement.id === 'left-factor');
        await drawn(page);
        assert.ok(Number(asked(page, 'factor')) > 1);
        assert.ok(Number(asked(page, 'original_max_position_embeddings')) >= 1);
        await page.selectOption('#left-rope_type', {value: 'default'});
        await page.waitForFunction(() => !location.search.includes('factor='));
        await drawn(page);
    },
);

pageTest('how long it took stays behind Details', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=16&dim=8');
    assert.equal(await page.isVisible('#replies'), false);
    await page.click('#details > summary');
    assert.match(await page.innerText('#replies'), /cache/);
});

pageTest('a choice under More stays in sight after it is made', {}, async (page) => {
    await open(page, '?scheme=alibi&length=16&heads=2');
    await openMore(page);
    await page.selectOption('#left-mask', 'causal');
    await drawn(page);
    await page.reload();
    await drawn(page);
    assert.equal(await page.isVisible('#left-mask'), true);
    await settled(page);
});
