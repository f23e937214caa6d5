// The scores of random queries and keys: those of the service's own tables, for every choice
// the scheme has.
import assert from 'node:assert/strict';
import {decode} from '../../server/visualiser/numbers.js';
import {scoreOf} from './score.js';
import {
    drawn,
    findings,
    open,
    pageTest,
    pointAt,
    readout,
    readoutFrom,
    schemes,
    url,
} from './harness.js';

const QUERY = 'length=128&dim=16';
const PLAIN = `?scheme=rope&${QUERY}&view=scores`;
// what the view fills in: a quarter of the table is taken as the training length
const VARIANTS = {
    default: '',
    linear: '&rope_type=linear&factor=4',
    ntk: '&rope_type=ntk&factor=4',
    dynamic: '&rope_type=dynamic&factor=4&original_max_position_embeddings=32&seq_len=128',
    yarn: '&rope_type=yarn&factor=4&original_max_position_embeddings=32',
    llama3: '&rope_type=llama3&factor=4&original_max_position_embeddings=32',
};

async function expected(variants, row, drawing) {
    const tables = await Promise.all(
        Object.entries(variants).map(async ([name, query]) => {
            const [cos, sin] = await Promise.all(
                ['cos', 'sin'].map(async (tensor) =>
                    decode(
                        'f32',
                        await (
                            await fetch(
                                `${url}/v1/encodings/rope?${QUERY}${query}&tensor=${tensor}` +
                                    '&format=raw',
                            )
                        ).arrayBuffer(),
                    ),
                ),
            );
            return [name, scoreOf({cos, sin, count: 8, row, ...drawing})];
        }),
    );
    return Object.fromEntries(tables);
}

// Point at a part of all distances and compare what is read there.
async function check(page, variants, part, drawing) {
    const [row, ...parts] = await pointAt(
        page,
        page.locator('svg.chart'),
        ({width}) => [58 + part * (width - 72), 100],
        async () => {
            const [place, ...others] = (await readoutFrom(page, 'distance ')).split(' · ');
            const distance = Number(place.slice('distance '.length));
            assert.ok(Math.abs(distance - 127 * part) <= 0.51, `${place} at ${part}`);
            return [distance, ...others];
        },
    );
    const wanted = await expected(variants, row, drawing);
    assert.deepEqual(
        parts.map((each) => each.split(' ').slice(0, -1).join(' ')),
        Object.keys(wanted),
    );
    for (const each of parts) {
        const [name, value] = [
            each.split(' ').slice(0, -1).join(' '),
            Number(each.split(' ').at(-1)),
        ];
        assert.ok(
            Math.abs(value - wanted[name]) < 1e-5,
            `distance ${row}: ${each}, not ${wanted[name]}`,
        );
    }
}

pageTest(
    'every scaling’s score under the pointer is that of the service’s tables',
    {},
    async (page) => {
        await open(page, PLAIN);
        assert.match(
            await page.getAttribute('svg.chart', 'aria-label'),
            / of default, linear, ntk: /,
        );
        const shown = [...Object.keys(VARIANTS), 'proportional'];
        await open(page, `${PLAIN}&view.scores.variants=${shown}`);
        for (const part of [0.1, 0.7]) await check(page, VARIANTS, part, {seed: 0, draws: 64});
        assert.match(await page.textContent('#view .note'), /the mean of 64 draws \(seed 0\)/);
        assert.match(
            await page.textContent('#view .note'),
            / yarn multiplies its cosines and sines by 1\.14, and with them every score by 1\.3\./,
        );
        assert.match(await page.textContent('svg.chart'), /taken as trained to 32/);
        assert.match(await page.textContent('.scores-variants'), /proportional \(as linear\)/);
        assert.equal(
            await page.isChecked('#scores-longrope'),
            false,
            'its lists would have to be invented',
        );
    },
);

pageTest(
    'a draw is chosen by its seed, and the address keeps it with the lines',
    {},
    async (page) => {
        await open(
            page,
            `${PLAIN}&view.scores.key=other&view.scores.draws=1&view.scores.seed=4294967295` +
                '&view.scores.variants=default,yarn',
        );
        const chosen = {default: VARIANTS.default, yarn: VARIANTS.yarn};
        await check(page, chosen, 0.4, {seed: 4294967295, draws: 1, other: true});
        await page.click('#scores-again');
        await drawn(page);
        await check(page, chosen, 0.4, {seed: 0, draws: 1, other: true});
        await page.click('#scores-again');
        await drawn(page);
        assert.match(page.url(), /view\.scores\.seed=1(&|$)/);
        await page.focus('#scores-linear');
        await page.keyboard.press('Space');
        await drawn(page);
        assert.equal(await page.evaluate(() => document.activeElement.id), 'scores-linear');
        assert.match(page.url(), /view\.scores\.variants=default,linear,yarn/);
        await page.reload();
        await drawn(page);
        const {default: plain, linear, yarn} = VARIANTS;
        await check(page, {default: plain, linear, yarn}, 0.8, {
            seed: 1,
            draws: 1,
            other: true,
        });
        await page.focus('svg.chart');
        for (const key of ['Home', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
        assert.match(await readout(page), /^distance 2 · default /);
    },
);

pageTest(
    'the training length is the parameters’ own, or the one that is set; two sides show ' +
        'their own lines',
    {},
    async (page) => {
        await open(
            page,
            `${PLAIN}&rope_type=yarn&factor=2&original_max_position_embeddings=64` +
                '&view.scores.variants=default,linear,yarn',
        );
        assert.match(await page.textContent('svg.chart'), /(?<!taken as )trained to 64/);
        await check(
            page,
            {
                default: '',
                linear: '&rope_type=linear&factor=2',
                yarn: '&rope_type=yarn&factor=2&original_max_position_embeddings=64',
            },
            0.5,
            {seed: 0, draws: 64},
        );
        await open(
            page,
            `${PLAIN}&view.mark=16&right.scheme=rope&right.length=128&right.dim=16` +
                '&right.rope_type=linear&right.factor=8',
        );
        assert.match(await page.textContent('svg.chart'), /trained to 16/);
        await check(page, {'A default': '', 'B linear': '&rope_type=linear&factor=8'}, 0.3, {
            seed: 0,
            draws: 64,
        });
    },
);

pageTest('the view knows the scheme by its document alone', {}, async (page) => {
    const made = {
        ...schemes.find(({name}) => name === 'rope'),
        name: 'unheard_of',
        title: 'Unheard of',
    };
    await page.route('**/v1/schemes', (route) => route.fulfill({json: {schemes: [made]}}));
    await page.route('**/v1/encodings/unheard_of**', (route) =>
        route.continue({url: route.request().url().replace('unheard_of', 'rope')}),
    );
    await open(page, PLAIN.replace('scheme=rope', 'scheme=unheard_of'));
    const {default: plain, linear, ntk} = VARIANTS;
    await check(page, {default: plain, linear, ntk}, 0.5, {seed: 0, draws: 64});
});

pageTest(
    'axe finds nothing in scores in both themes, on a phone and on a screen',
    {},
    async (page) => {
        for (const [colorScheme, width] of [
            ['light', 400],
            ['dark', 1280],
        ]) {
            await page.emulateMedia({colorScheme});
            await page.setViewportSize({width, height: 900});
            await open(page, PLAIN);
            assert.deepEqual(await findings(page, '#view'), [], colorScheme);
            assert.ok(
                await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
                `too wide at ${width}`,
            );
        }
    },
);
