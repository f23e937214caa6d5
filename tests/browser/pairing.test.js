// What two layouts of rotary pairs mean for a score, against rotations by loops of their own.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {correlationOf} from '../../server/visualiser/layouts.js';
import {open, pageTest} from './harness.js';

const PAIRS = {
    half: (i, n) => [i, i + n],
    interleaved: (i) => [2 * i, 2 * i + 1],
};

function turned(vector, layout, angles) {
    const result = [...vector];
    angles.forEach((angle, i) => {
        const [a, b] = PAIRS[layout](i, angles.length);
        result[a] = vector[a] * Math.cos(angle) - vector[b] * Math.sin(angle);
        result[b] = vector[a] * Math.sin(angle) + vector[b] * Math.cos(angle);
    });
    return result;
}

// The correlation of both layouts' scores over random queries and keys.
function measured(angles, draws) {
    let state = 7;
    const uniform = () => {
        state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
        return (state + 0.5) / 2 ** 32;
    };
    const normal = () =>
        Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
    const sums = [0, 0, 0];
    for (let i = 0; i < draws; i++) {
        const [query, key] = [0, 1].map(() => Array.from(angles).concat(angles).map(normal));
        const [one, other] = ['half', 'interleaved'].map((layout) =>
            turned(key, layout, angles).reduce((sum, each, k) => sum + each * query[k], 0),
        );
        sums[0] += one * other;
        sums[1] += one * one;
        sums[2] += other * other;
    }
    return sums[0] / Math.sqrt(sums[1] * sums[2]);
}

const anglesAt = (distance, dim) =>
    Array.from({length: dim / 2}, (_, i) => distance * 10000 ** ((-2 * i) / dim));

test('the correlation of right and wrong layouts is that of random scores', () => {
    for (const distance of [1, 16, 256]) {
        const angles = anglesAt(distance, 32);
        const exact = correlationOf(['half', 'interleaved'], angles);
        const found = measured(angles, 8000);
        assert.ok(Math.abs(exact - found) < 0.05, `${distance}: ${exact}, ${found}`);
    }
    assert.equal(correlationOf(['half', 'half'], anglesAt(5, 8)).toFixed(9), '1.000000000');
});

const BESIDE = '?scheme=rope&length=64&dim=32&right.scheme=rope&right.length=64&right.dim=32';

pageTest('interleaved beside halves: equal tables, other columns', {}, async (page) => {
    await open(page, `${BESIDE}&right.layout=interleaved`);
    await page.waitForFunction(() => document.querySelector('#strangers .told'));
    const told = await page.innerText('#strangers');
    assert.match(told, /^Layout half turns columns 0 and 16, 1 and 17 … together/);
    assert.match(told, /interleaved turns columns 0 and 1, 2 and 3 … together/);
    assert.match(told, /so both tables are equal/);
    const [, ...numbers] = /correlation of ([\d.-]+), ([\d.-]+), ([\d.-]+) with/.exec(told);
    [1, 16, 256].forEach((distance, i) => {
        const exact = correlationOf(['half', 'interleaved'], anglesAt(distance, 32));
        assert.equal(numbers[i], exact.toFixed(2));
    });
    await open(page, `${BESIDE}&right.layout=interleaved&right.rope_theta=500`);
    await page.waitForFunction(() => document.querySelector('#strangers .told'));
    assert.doesNotMatch(await page.innerText('#strangers'), /tables are equal/);
    await open(page, BESIDE);
    assert.equal(await page.isVisible('#strangers'), false);
    await open(page, '?scheme=rope&length=64&dim=32&layout=interleaved&view=rotation');
    await page.waitForFunction(() => document.querySelector('#strangers .told'));
    assert.match(await page.innerText('#strangers'), /^Layout interleaved turns .* 0 and 1/);
    for (const scheme of ['xpos', 'complex_order']) {
        await open(page, `?scheme=${scheme}&view=rotation`);
        assert.doesNotMatch(await page.innerText('#strangers'), /Layout/, scheme);
    }
});

pageTest('why two columns share a frequency leads to the rotations', {}, async (page) => {
    const why = '.spectrum-why a';
    const opened = (address) =>
        open(page, address).then(() =>
            page.waitForFunction(() => !document.querySelector('#view [aria-busy]')),
        );
    await opened('?scheme=sinusoidal&length=64&dim=16&view=spectrum');
    assert.equal(await page.locator(why).count(), 1);
    await opened('?scheme=rope&length=64&dim=16&table=full&view=spectrum');
    assert.equal(await page.locator(why).count(), 0, 'two cosines are no rotation');
    await opened('?scheme=sinusoidal&length=64&dim=16&view=spectrum');
    await page.click(why);
    await page.waitForFunction(() => location.search.includes('rotation_matrix'));
});
