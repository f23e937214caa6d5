// What is read under the pointer is what the service computes there: of every scheme, in every
// view that it has, also where rows or columns are distances. Places come from the service's
// own documents and tensors.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {brief, countedFrom, decode, originOf, round} from '../../server/visualiser/numbers.js';
import {rotationOf} from '../../server/visualiser/rotated.js';
import {axesOf, axisTitle, effectiveOf} from '../../server/visualiser/schema.js';
import {
    drawn,
    eventually,
    open,
    pageTest,
    pointAt,
    readoutFrom,
    schemes,
    settled,
    url,
    visit,
} from './harness.js';

const MARGIN = {left: 64, top: 6, right: 8, bottom: 34}; // of heatmaps

test('integers keep their digits, and labels of an axis far out differ', () => {
    for (const [number, text] of [
        [131072, '131072'],
        [-262144, '-262144'],
        [47117.4, '47117'],
        [6.28318, '6.2832'],
        [0, '0'],
        [2 ** 34, '1.72e10'],
    ])
        assert.equal(brief(number), text);
    for (const [from, to, origin] of [
        [0, 127, 0],
        [131072, 131199, 0],
        [1e9 + 7, 1e9 + 134, 1e9],
        [1e9 + 134, 1e9 + 7, 1e9],
        [-1e9, 127 - 1e9, -1e9],
        [2 ** 53 - 64, 2 ** 53, 9007199254740900],
        [1e6, 2e6, 0],
        [1e7, 1e7, 1e7],
    ])
        assert.equal(originOf(from, to), origin, `${from} to ${to}`);
    assert.equal(countedFrom('position', 1e9), 'position − 1000000000');
    assert.equal(countedFrom('position', -1e9), 'position + 1000000000');
});

pageTest('an axis far out is counted from where it begins', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=128&dim=16&offset=1000000007&view=waves');
    const labels = await page.$$eval('#view svg.chart text', (all) =>
        all.map(({textContent}) => textContent),
    );
    assert.ok(labels.includes('position − 1000000000'));
    assert.ok(['20', '40', '120'].every((each) => labels.includes(each)));
});

async function raw(path, dtype = 'f32') {
    const response = await fetch(`${url}/v1/${path}`);
    assert.equal(response.status, 200, path);
    return decode(dtype, await response.arrayBuffer());
}

// {name, dtype, shape, data, axes: [{title, at: [coordinates]}]} of a tensor.
async function tensorOf(scheme, query, made) {
    const effective = effectiveOf(scheme, Object.fromEntries(new URLSearchParams(query)));
    const data = await raw(
        `encodings/${scheme.name}?${query}&tensor=${made.name}&format=raw`,
        made.dtype,
    );
    const names = axesOf(
        scheme.tensors.find(({name}) => name === made.name).shape,
        made.shape,
        effective,
    );
    const axes = await Promise.all(
        names.map(async (axis, k) => {
            const count = (first) => Array.from({length: made.shape[k]}, (_, i) => first + i);
            const title = axis === '1' ? '' : axisTitle(axis, k > 0 && k === names.length - 1);
            if (axis === 'n') return {title, at: count(Number(effective.offset ?? 0))};
            if (axis === 'queries') return {title, at: count(Number(effective.query_offset))};
            if (!/^(distances|queries\+keys-1)$/.test(axis)) return {title, at: count(0)};
            if (scheme.tensors.some(({name}) => name === 'distance'))
                return {
                    title: 'distance',
                    at: [
                        ...(await raw(
                            `encodings/${scheme.name}?${query}&tensor=distance&format=raw`,
                            'i32',
                        )),
                    ],
                };
            return {
                title: 'distance',
                at: count(Number(effective.min_distance ?? -effective.max_distance)),
            };
        }),
    );
    return {...made, data, axes};
}

const same = (dtype, text, value) =>
    assert.ok(
        Object.is(round(dtype, Number(text.replace('∞', 'Infinity'))), value),
        `${text} is not ${value}`,
    );
// Three places of a matrix, no two in the same row or column as far as it has so many.
const places = (rows, columns) => [
    [0, 0],
    [Math.floor(rows / 3), columns - 1],
    [rows - 1, Math.floor(columns / 3)],
];
const matrixOf = ({shape}) => (shape.length === 1 ? [shape[0], 1] : shape.slice(-2));
const axesOfMatrix = ({axes}) =>
    axes.length === 1 ? [axes[0], {title: '', at: [0]}] : axes.slice(-2);

const say = (page, start) => eventually(() => readoutFrom(page, start));

async function heatmap(page, tensor) {
    const [rows, columns] = matrixOf(tensor),
        [down, across] = axesOfMatrix(tensor);
    for (const [row, column] of places(rows, columns)) {
        const place = [
            `${down.title} ${down.at[row]}`,
            across.title && `${across.title} ${across.at[column]}`,
        ]
            .filter(Boolean)
            .join(' · ');
        const said = await pointAt(
            page,
            page.locator('canvas.plot').first(),
            ({width, height}) => [
                MARGIN.left + ((column + 0.5) / columns) * (width - MARGIN.left - MARGIN.right),
                MARGIN.top + ((row + 0.5) / rows) * (height - MARGIN.top - MARGIN.bottom),
            ],
            () => readoutFrom(page, `${place} · value`),
        );
        same(tensor.dtype, /value (\S+)/.exec(said)[1], tensor.data[row * columns + column]);
    }
}

// "title at · name k: value · …" of waves (rows read, columns named) or profiles (the other way
// round).
async function lines(page, tensor, upright) {
    const [, columns] = matrixOf(tensor),
        [down, across] = axesOfMatrix(tensor);
    const [read, named] = upright ? [down, across] : [across, down];
    const reach = Math.max(...read.at) - Math.min(...read.at);
    for (const part of [0.15, 0.5, 0.9]) {
        const [at, ...parts] = await pointAt(
            page,
            page.locator('svg.chart').first(),
            ({width}) => [58 + part * (width - 72), 100],
            async () => {
                const [place, ...others] = (await readoutFrom(page, `${read.title} `)).split(
                    ' · ',
                );
                const index = read.at.indexOf(Number(place.slice(read.title.length)));
                assert.ok(
                    Math.abs(Math.min(...read.at) + part * reach - read.at[index]) <=
                        0.51 * Math.max(1, reach / (read.at.length - 1)),
                    `${place} at ${part}`,
                );
                return [index, ...others];
            },
        );
        assert.ok(parts.length > 0);
        for (const each of parts) {
            const [, name, value] = /^(?:(.*): )?(\S+)$/.exec(each);
            const other =
                name === undefined
                    ? 0
                    : named.at.indexOf(Number(name.slice(named.title.length)));
            same(
                tensor.dtype,
                value,
                tensor.data[upright ? at * columns + other : other * columns + at],
            );
        }
    }
}

// The number in "title 12" within a readout.
const coordinate = (said, {title}) =>
    Number(new RegExp(`(?:^|· )${title} (-?[\\d.]+)(?= ·|$)`).exec(said)?.[1] ?? NaN);

async function heads(page, tensor) {
    await page.waitForSelector('#view [data-heads]');
    const {axes, shape, data, dtype} = tensor;
    for (const form of ['maps', 'lines']) {
        const button = page.locator(
            `.buttons button:text-is("${form === 'maps' ? 'Maps' : 'Lines'}")`,
        );
        if ((await button.count()) > 0) {
            await button.click();
            await settled(page);
        } else if (form === 'lines') continue;
        const picture = page
            .locator(form === 'maps' ? '.heads-map canvas' : '#view svg.chart')
            .first();
        await picture.scrollIntoViewIfNeeded();
        const box = await picture.boundingBox();
        for (const part of [0.3, 0.6]) {
            await page.mouse.move(box.x + part * box.width, box.y + part * box.height);
            const said = await say(page, '');
            if (!said) continue;
            const at = axes.map((axis) => axis.at.indexOf(coordinate(said, axis)));
            assert.ok(
                at.every((i) => i >= 0),
                `${said}: ${at}`,
            );
            same(
                dtype,
                /value (\S+)/.exec(said)[1],
                data[at.reduce((index, i, k) => index * shape[k] + i, 0)],
            );
            const cells = await page.locator('.numbers tbody tr').allTextContents();
            assert.ok(cells.length > 0);
        }
    }
}

async function compared(page) {
    await page.waitForSelector('#view .reply');
}
const matrix = (scheme, query, metric) =>
    raw(`similarity/${scheme.name}?${query}&metric=${metric}&format=raw`);

const VIEWS = {
    heatmap: (page, {tensor}) => heatmap(page, tensor),
    waves: (page, {tensor}) => lines(page, tensor, true),
    profiles: (page, {tensor}) => lines(page, tensor, false),
    heads: (page, {tensor}) => heads(page, tensor),
    async spectrum(page, {tensor}) {
        await page.waitForSelector('.spectrum-body:not([aria-busy])');
        if ((await page.locator('svg.chart').count()) === 0)
            return assert.match(
                await page.textContent('.spectrum-words'),
                /^(No column is a wave|The wavelengths of this table could not be measured)/,
            );
        await page.locator('svg.chart').focus();
        await page.keyboard.press('Home');
        const [, column, wavelength] = /dimension (\d+) · wavelength (\S+) positions/.exec(
            await say(page, 'dimension'),
        );
        const [, columns] = tensor.shape,
            at = (row) => tensor.data[row * columns + Number(column)];
        const cosine = Math.cos((2 * Math.PI) / Number(wavelength));
        for (let row = 1; row + 1 < tensor.shape[0]; row++)
            assert.ok(
                Math.abs(at(row - 1) + at(row + 1) - 2 * cosine * at(row)) <
                    1e-5 * Math.max(1, Math.abs(at(row))),
                `${wavelength} of column ${column}`,
            );
    },
    async precision(page, {scheme, query, tensor}) {
        if ((await page.locator('svg.chart').count()) === 0) return;
        await page.locator('svg.chart').first().focus();
        await page.keyboard.press('End');
        const [, position, column, exact] =
            /position (-?\d+), dimension (\d+): exact (\S+),/.exec(await say(page, 'position'));
        const rest = new URLSearchParams(query);
        for (const name of ['length', 'offset']) rest.delete(name);
        same(
            'f32',
            exact,
            (
                await raw(
                    `encodings/${scheme.name}?${rest}&positions=${position}` +
                        `&tensor=${tensor.name}&format=raw&dtype=f32`,
                )
            )[Number(column)],
        );
    },
    async rotation(page, {scheme, query, tensor}) {
        const [, position, x, one, y, other] =
            /^pair 0 · position (\S+) · (\w+) (\S+), (\w+) (\S+), length/.exec(
                await say(page, 'pair 0'),
            );
        const row = tensor.axes[0].at.indexOf(Number(position));
        for (const [name, text] of [
            [x, one],
            [y, other],
        ])
            same(
                'f32',
                text,
                (await raw(`encodings/${scheme.name}?${query}&tensor=${name}&format=raw`))[
                    row * tensor.shape[1]
                ],
            );
    },
    async softmax(page, {scheme, query, tensor}) {
        const effective = effectiveOf(scheme, Object.fromEntries(new URLSearchParams(query)));
        const place = Number(effective.query_offset) + Number(effective.query_length) - 1;
        const [, queries] = tensor.shape,
            keys = Number(effective.length);
        const biasOf = (head, key) =>
            tensor.shape.length === 3
                ? tensor.data[(head * queries + queries - 1) * keys + key]
                : tensor.data[head * queries + tensor.axes[1].at.indexOf(key - place)];
        await page.locator('svg.chart').first().focus();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowRight');
        const said = await say(page, 'key 1 · head 0');
        for (const [, head, value] of said.matchAll(/head (\d+) (\S+)/g)) {
            const sizes = Array.from({length: keys}, (_, key) =>
                Math.exp(biasOf(Number(head), key)),
            );
            const expected = sizes[1] / sizes.reduce((a, b) => a + b);
            assert.ok(Math.abs(Number(value) / expected - 1) < 1e-5, `${said}: ${expected}`);
        }
    },
    async similarity(page, {scheme, query, tensor}) {
        await compared(page);
        const n = tensor.shape[0];
        await heatmap(page, {
            ...tensor,
            dtype: 'f32',
            shape: [n, n],
            axes: [tensor.axes[0], tensor.axes[0]],
            data: await matrix(scheme, query, tensor.shape[1] > 1 ? 'cosine' : 'l2'),
        });
    },
    async distances(page, {scheme, query, tensor}) {
        await compared(page);
        const [{title, at}] = tensor.axes,
            values = await matrix(scheme, query, 'l2');
        const said = await pointAt(
            page,
            page.locator('#view svg.chart'),
            ({width}) => [58 + 0.4 * (width - 72), 100],
            () => readoutFrom(page, `${title} `),
        );
        const here = at.indexOf(coordinate(said, {title}));
        const curves = [...said.matchAll(/to (-?\d+) (\S+)/g)];
        assert.ok(here >= 0 && curves.length > 0, said);
        for (const [, chosen, value] of curves)
            same('f32', value, values[at.indexOf(Number(chosen)) * at.length + here]);
    },
    async cloud(page, {scheme, query, tensor}) {
        await compared(page);
        const [{title, at}] = tensor.axes;
        await page.locator('canvas.plot').first().focus();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('ArrowDown');
        const [, one, other, l2, pearson] = new RegExp(
            `^${title}s (-?\\d+) and (-?\\d+) · L2 distance (\\S+) · ` +
                'Pearson correlation (\\S+)$',
        ).exec(await say(page, title));
        const index = at.indexOf(Number(one)) * at.length + at.indexOf(Number(other));
        for (const [metric, text] of [
            ['l2', l2],
            ['pearson', pearson],
        ])
            same('f32', text, (await matrix(scheme, query, metric))[index]);
    },
};

// The scheme's example, and the same with distances or positions elsewhere.
function queriesOf({example, parameters}) {
    const has = (name) => parameters.some((each) => each.name === name);
    const longer = example
        .replace(/\blength=\d+/, 'length=12')
        .replace('base_length=4', 'base_length=8');
    if (has('form'))
        return [
            example,
            ...(has('query_length')
                ? [
                      `${longer}&form=compact`,
                      `${longer}&query_length=5&form=compact`,
                      `${longer}&query_length=5`,
                  ]
                : []),
        ];
    return [
        has('offset')
            ? `${longer.replace('base_length=4', 'base_length=12')}` +
              `&offset=${has('base_length') || has('width') ? 1 : 7}`
            : longer,
    ];
}

// Views of scores, which the page computes itself from vectors that turn: scores.test.js and
// similarity.test.js compare these with their definition.
const COMPUTED = ['scores', 'similarity', 'distances', 'cloud'];

// Refusals that a scheme's views bring about: measuring waves asks for far rows, whose
// amplitude no dtype holds.
const REFUSED = {xpos: /status of 422/};

for (const scheme of schemes)
    pageTest(
        `${scheme.name}: every view reads the service's values`,
        {viewport: {width: 1280, height: 1500}, expected: REFUSED[scheme.name]},
        async (page) => {
            let go = open; // the page is loaded once
            for (const query of queriesOf(scheme)) {
                const described = await (
                    await fetch(`${url}/v1/encodings/${scheme.name}?${query}`)
                ).json();
                assert.ok(described.tensors, `${query}: ${described.detail}`);
                for (const made of scheme.tensors
                    .map(({name}) => described.tensors.find((each) => each.name === name))
                    .filter(Boolean)) {
                    const tensor = await tensorOf(scheme, query, made);
                    const first = {
                        ...tensor,
                        data: tensor.data.subarray(
                            0,
                            matrixOf(tensor).reduce((a, b) => a * b),
                        ),
                    };
                    await go(
                        page,
                        `?scheme=${scheme.name}&${query}&view.tensor=${made.name}` +
                            '&view.slice=0,0',
                    );
                    go = visit;
                    const views = await page.$$eval('#tabs button', (all) =>
                        all.map(({dataset}) => dataset.view),
                    );
                    const turns = rotationOf({name: made.name, axes: ['n']}, scheme);
                    for (const view of views) {
                        if (turns && COMPUTED.includes(view)) continue;
                        await page.mouse.move(0, 0);
                        if ((await page.getAttribute('#view', 'data-drawn')) !== view) {
                            await page.click(`#tabs [data-view=${view}]`);
                            await page.waitForSelector(`#view[data-drawn="${view}"]`);
                            await drawn(page);
                        }
                        try {
                            await VIEWS[view](page, {
                                scheme,
                                query,
                                tensor: ['heads', 'softmax'].includes(view) ? tensor : first,
                            });
                        } catch (error) {
                            error.message =
                                `${scheme.name}?${query} ${made.name} ${view}: ` +
                                `${error.message}`;
                            throw error;
                        }
                    }
                }
            }
        },
    );
