// The heatmap shows the bits that the service sends.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {decode, round, shortest} from '../../server/visualiser/numbers.js';
import {open, pageTest, pointAt, readout, readoutFrom, settled, url} from './harness.js';

const ROWS = 48,
    COLUMNS = 24;
const query = `sinusoidal?length=${ROWS}&dim=${COLUMNS}&offset=7&base=500`;

// The elements of an npy file, as numpy would read them.
async function npy(address) {
    const bytes = await (
        await fetch(`${url}/v1/encodings/${address}&format=npy`)
    ).arrayBuffer();
    const header = new DataView(bytes).getUint16(8, true);
    const text = Buffer.from(bytes, 10, header).toString('latin1');
    const [, type] = /'descr': '(<[fi]\d)'/.exec(text);
    return {f4: Float32Array, f8: Float64Array, i4: Int32Array}[type.slice(1)].from
        ? new {'<f4': Float32Array, '<f8': Float64Array, '<i4': Int32Array}[type](
              bytes.slice(10 + header),
          )
        : null;
}

const bits = (Type, value) => Buffer.from(new Type([value]).buffer).toString('hex');

async function point(page, row, column) {
    const left = 64,
        top = 6,
        right = 8,
        bottom = 34; // the margins of axes
    const said = await pointAt(
        page,
        page.locator('canvas.plot').first(),
        ({width, height}) => [
            left + ((column + 0.5) / COLUMNS) * (width - left - right),
            top + ((row + 0.5) / ROWS) * (height - top - bottom),
        ],
        () => readoutFrom(page, `position ${row + 7} · dimension ${column} · `),
    );
    return / (?:value|A) (\S+)/.exec(said)[1];
}

for (const [dtype, Type] of [
    ['f32', Float32Array],
    ['f64', Float64Array],
])
    pageTest(`a hovered ${dtype} is that of the npy body, bit for bit`, {}, async (page) => {
        const expected = await npy(`${query}&dtype=${dtype}`);
        await open(page, `?scheme=${query.replace('?', '&')}&dtype=${dtype}`);
        for (const [row, column] of [
            [0, 0],
            [1, 1],
            [17, 3],
            [47, 23],
            [30, 22],
            [5, 11],
        ]) {
            const text = await point(page, row, column);
            assert.equal(
                bits(Type, Number(text)),
                bits(Type, expected[row * COLUMNS + column]),
                `${row} ${column}: ${text}`,
            );
            if (dtype === 'f32')
                assert.ok(text.replace(/^-|\.|^0\.0*/g, '').length <= 10, text);
        }
    });

pageTest('wavelengths are those of the formula', {}, async (page) => {
    await open(page, `?scheme=${query.replace('?', '&')}`);
    for (const column of [0, 5, 23]) {
        await point(page, 3, column);
        await page.waitForFunction(() =>
            document.querySelector('#readout').textContent.includes('wavelength'),
        );
        const measured = Number(/wavelength ([\d.e]+)/.exec(await readout(page))[1]);
        const wavelength = 2 * Math.PI * 500 ** ((2 * Math.floor(column / 2)) / COLUMNS);
        assert.ok(
            Math.abs(measured / wavelength - 1) < 1e-4,
            `${column}: ${measured}, not ${wavelength}`,
        );
    }
});

pageTest('learned columns are told to have no wavelength', {}, async (page) => {
    await open(page, '?scheme=learned&length=48&dim=24&offset=7');
    await point(page, 3, 3);
    await page.waitForTimeout(300);
    assert.doesNotMatch(await readout(page), /wavelength/);
});

pageTest('the difference is left minus right, under one crosshair', {}, async (page) => {
    await open(
        page,
        `?scheme=${query.replace('?', '&')}&right.scheme=sinusoidal&right.length=${ROWS}` +
            `&right.dim=${COLUMNS}&right.offset=7`,
    );
    const [left, right] = [await npy(query), await npy(query.replace('&base=500', ''))];
    const at = 17 * COLUMNS + 4;
    await point(page, 17, 4);
    const said = await readout(page);
    assert.ok(
        said.includes(
            ` · A ${shortest('f32', left[at])} · B ${shortest('f32', right[at])} · ` +
                `difference ${left[at] - right[at]}`,
        ),
        said,
    );
    assert.equal(await page.locator('canvas.plot').count(), 3);
});

const zoomOf = (page) =>
    (new URLSearchParams(new URL(page.url()).search).get('view.zoom') ?? '')
        .split(',')
        .map(Number);

pageTest('wheel and drag move all panels, within the table', {}, async (page) => {
    await open(
        page,
        `?scheme=${query.replace('?', '&')}&right.scheme=sinusoidal&right.length=${ROWS}` +
            `&right.dim=${COLUMNS}&right.offset=7`,
    );
    const first = page.locator('canvas.plot').first(),
        last = page.locator('canvas.plot').last();
    const moved = async (what, before) => {
        await page.mouse.move(0, 0); // no crosshair
        assert.ok(
            !before.equals(await last.screenshot()),
            `the difference has not moved with the ${what}`,
        );
        return last.screenshot();
    };
    const whole = await last.screenshot();
    await first.click({position: {x: 120, y: 60}});
    await page.mouse.wheel(0, -400);
    await page.waitForFunction(() => /view\.zoom=[\d.]+,/.test(location.search));
    const [k, x, y] = zoomOf(page);
    assert.ok(k > 1);
    const zoomed = await moved('wheel', whole);
    const box = await first.boundingBox();
    const high = box.height - 40; // without the axes' margins
    const drag = async (dx, dy) => {
        const address = page.url();
        const from = [box.x + box.width / 2, box.y + box.height / 2];
        await page.mouse.move(...from);
        await page.mouse.down();
        await page.mouse.move(from[0] + dx / 2, from[1] + dy / 2);
        await page.mouse.move(from[0] + dx, from[1] + dy);
        await page.mouse.up();
        await page.waitForFunction((before) => location.href !== before, address);
        await settled(page); // the address may have half of the way first
        return zoomOf(page);
    };
    const [k2, x2, y2] = await drag(0, -40);
    assert.deepEqual([k2, x2], [k, x]);
    assert.ok(Math.abs(y2 - (y - 40 / high)) < 1e-3, `${y} to ${y2} for 40 of ${high} pixels`);
    const dragged = await moved('drag', zoomed);
    assert.deepEqual(
        await drag(2000, 2000),
        [k, 0, 0],
        'the first row and column stay at the edge',
    );
    await moved('drag', dragged);
});

for (const dtype of ['f16', 'bf16'])
    test(`every ${dtype} survives being shown`, () => {
        const all = decode(dtype, new Uint16Array(65536).map((_, i) => i).buffer);
        for (const value of all) {
            const text = shortest(dtype, value);
            if (!Number.isFinite(value)) continue;
            assert.ok(Object.is(round(dtype, Number(text)), value), `${value}: ${text}`);
        }
    });

for (const dtype of ['f32', 'f64', 'f16', 'bf16'])
    test(`${dtype} is shown with the digits of the service`, async () => {
        const address =
            `${url}/v1/encodings/sinusoidal?length=64&dim=32&offset=-20` +
            `&amplitude=3e-5&dtype=${dtype}`;
        const printed = (await (await fetch(address)).text())
            .match(/\[[^[\]]*\]/g)
            .filter((row) => row.includes('.'))
            .flatMap((row) => row.slice(1, -1).split(','));
        const values = decode(
            dtype,
            await (await fetch(`${address}&format=raw`)).arrayBuffer(),
        );
        assert.equal(printed.length, values.length);
        printed.forEach((text, i) =>
            assert.equal(
                shortest(dtype, values[i]),
                Object.is(Number(text), -0) ? '-0' : String(Number(text)),
            ),
        );
    });
