// The page as a whole: every scheme, the form, addresses, mistakes, cancelling, weight.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {
    chooseScheme,
    drawn,
    go,
    open,
    openMore,
    pageTest,
    readout,
    rest,
    schemes,
    settled,
    stopClock,
    url,
} from './harness.js';
import {readAddress, writeAddress} from '../../server/visualiser/state.js';

const MOST_BYTES = 400e3; // of a cold load, over the wire
const MOST_FORMULA_BYTES = 160e3; // of what typesets formulas
// what Chromium says of every answer that is a problem document
const REFUSED = /status of 4\d\d/;

async function choose(page, scheme) {
    await chooseScheme(page, scheme);
    await page.waitForFunction(
        (name) => new URLSearchParams(location.search).get('scheme') === name,
        scheme,
    );
}

test('the registry has schemes', () => assert.ok(schemes.length >= 20));

test('links with the old name of a set lead to it', () => {
    const old = '?scheme=learned&parameters=mine&right.scheme=t5&right.parameters=other';
    const {left, right} = readAddress(old);
    assert.deepEqual(left, {scheme: 'learned', parameters: {set: 'mine'}});
    assert.deepEqual(right, {scheme: 't5', parameters: {set: 'other'}});
    assert.ok(writeAddress(readAddress(old)).startsWith('?scheme=learned&set=mine&'));
});

// Where the machine is slow, a tensor rests long enough to be measured for wavelengths, far
// out; scales of xpos end before. A drawing that is refused is told in the message, which
// `drawn` reads.
pageTest('every tensor of every scheme is drawn', {expected: REFUSED}, async (page) => {
    await open(page);
    for (const {name, tensors} of schemes) {
        await choose(page, name);
        await drawn(page);
        const query = new URL(page.url()).search.replace(/scheme=[^&]*&|&view.*/g, '');
        const {tensors: made} = await (
            await fetch(`${url}/v1/encodings/${name}${query}`)
        ).json();
        for (const tensor of tensors.filter((each) =>
            made.some((one) => one.name === each.name),
        )) {
            if (made.length > 1) await page.selectOption('#tools select', tensor.name);
            await drawn(page);
            const label = await page.getAttribute('canvas.plot', 'aria-label');
            assert.ok(label.startsWith(`${tensor.name}: `), `${name} ${tensor.name}: ${label}`);
        }
    }
});

pageTest('the form has every parameter, choice, preset and help text', {}, async (page) => {
    await open(page);
    for (const {name, parameters, presets} of schemes) {
        await choose(page, name);
        const fields = await page.evaluate(() =>
            Object.fromEntries(
                [...document.querySelectorAll('#left [id^="left-"]')].map((element) => [
                    element.id,
                    element.tagName === 'SELECT'
                        ? [...element.options].map(({value}) => value)
                        : element.textContent,
                ]),
            ),
        );
        for (const parameter of parameters) {
            assert.ok(`left-${parameter.name}` in fields, `${name} ${parameter.name}`);
            assert.equal(fields[`left-${parameter.name}-help`], parameter.help);
            if (parameter.choices)
                assert.deepEqual(
                    fields[`left-${parameter.name}`].slice(1),
                    parameter.choices.map(String),
                );
        }
        if (presets.length > 0)
            assert.deepEqual(
                fields['left-preset'].slice(1),
                presets.map((preset) => preset.name),
            );
    }
});

pageTest('a scheme that is new to the page gets a form and a drawing', {}, async (page) => {
    const [scheme] = schemes.filter(({name}) => name === 'sinusoidal');
    const added = {
        name: 'fine_tuning',
        type: 'number',
        required: false,
        default: 2,
        minimum: 1,
        maximum: 3,
        help: 'an unheard-of parameter',
    };
    const made = {
        ...scheme,
        name: 'unheard_of',
        title: 'Unheard of',
        parameters: [...scheme.parameters, added],
    };
    await page.route('**/v1/schemes', (route) => route.fulfill({json: {schemes: [made]}}));
    await page.route('**/v1/encodings/unheard_of**', (route) => {
        route.continue({
            url: route
                .request()
                .url()
                .replace('unheard_of', 'sinusoidal')
                .replace(/&fine_tuning=[^&]*/, ''),
        });
    });
    await open(page);
    assert.equal(await page.getAttribute('#left-scheme', 'value'), 'unheard_of');
    await openMore(page);
    await page.fill('#left-fine_tuning', '2.5');
    await drawn(page);
    assert.equal(await page.inputValue('#left-fine_tuning ~ input[type=range]'), '750');
    assert.match(page.url(), /fine_tuning=2.5/);
});

pageTest('a slider stays inside bounds that are open', {}, async (page) => {
    await open(page, '?scheme=hierarchical&length=8&dim=8&base_length=4');
    const slider = page.locator('#left-alpha ~ input[type=range]');
    for (const [key, alpha] of [
        ['Home', '0.001'],
        ['End', '0.999'],
    ]) {
        await slider.press(key);
        await drawn(page);
        assert.equal(await page.inputValue('#left-alpha'), alpha);
        assert.equal(await page.isVisible('.error'), false);
    }
});

pageTest('parameters of some choice appear with it', {}, async (page) => {
    await open(page, '?scheme=rope&length=8&dim=8');
    await openMore(page);
    assert.equal(await page.isVisible('#left-beta_fast'), false);
    assert.equal(await page.isVisible('#left-low_freq_factor'), false);
    await page.selectOption('#left-rope_type', 'llama3');
    await drawn(page);
    assert.equal(await page.isVisible('#left-low_freq_factor'), true);
    assert.equal(await page.getAttribute('#left-factor', 'placeholder'), '8');
    assert.equal(await page.isVisible('#left-beta_fast'), false);
});

// What asks the service before the state changes: by what it is, [act(page), what the address
// has then].
const ASKING = {
    'a scheme that is chosen': [(page) => chooseScheme(page, 'shaw'), /scheme=shaw&length=/],
    Reset: [(page) => page.click('#left-reset'), /scheme=rope&length=128/],
    'a choice that others depend on': [
        (page) => page.selectOption('#left-rope_type', 'llama3'),
        /rope_type=llama3/,
    ],
    'an address of a scheme alone': [(page) => go(page, '?scheme=t5'), /scheme=t5&length=/],
};

// Hold answers to what `pattern` matches back: {asked, a promise of the first request, and
// answer(), which lets them go}.
async function holdAnswers(page, pattern) {
    let answer;
    const held = new Promise((resolve) => (answer = resolve));
    await page.route(pattern, async (route) => {
        await held;
        await route.continue();
    });
    return {asked: page.waitForRequest(pattern), answer};
}

for (const [what, [act, after]] of Object.entries(ASKING))
    pageTest(`${what} is under way until the service has answered`, {}, async (page) => {
        await open(page, '?scheme=rope&length=8&dim=8');
        await openMore(page);
        const {asked, answer} = await holdAnswers(page, '**/v1/encodings/**');
        await act(page);
        await asked;
        assert.ok(await page.evaluate(() => document.body.classList.contains('busy')));
        answer();
        await drawn(page);
        assert.match(page.url(), after);
    });

for (const [what, act] of [
    ['chosen', chooseScheme],
    ['gone to', (page, name) => go(page, `?scheme=${name}`)],
])
    pageTest(
        `of two schemes that are ${what} one after the other the last one comes, also if the ` +
            'first is answered last',
        {},
        async (page) => {
            await open(page, '?scheme=rope&length=8&dim=8');
            const {asked, answer} = await holdAnswers(page, '**/v1/encodings/shaw**');
            await act(page, 'shaw');
            await asked;
            await act(page, 'alibi');
            await page.waitForFunction(() => location.search.includes('scheme=alibi&'));
            answer();
            await drawn(page);
            assert.match(page.url(), /scheme=alibi&/);
            assert.match(await page.title(), /^ALiBi/);
        },
    );

pageTest('computed defaults are shown', {}, async (page) => {
    await open(page, '?scheme=alibi&length=40&heads=2&query_length=10');
    assert.equal(await page.getAttribute('#left-query_offset', 'placeholder'), '30');
});

pageTest(
    'mistakes are told beside their fields, by the problem document',
    {expected: REFUSED},
    async (page) => {
        await page.goto(`${url}/?scheme=sinusoidal&length=4&dim=0&layout=interlaved&lenght=4`);
        await settled(page);
        const document = await (
            await fetch(
                `${url}/v1/encodings/sinusoidal?length=4&dim=0&layout=interlaved&lenght=4`,
            )
        ).json();
        for (const name of ['dim', 'layout']) {
            const {allowed} = document.errors.find(({parameter}) => parameter === name);
            assert.ok((await page.textContent(`#left-${name}-error`)).startsWith(allowed));
            assert.equal(await page.getAttribute(`#left-${name}`, 'aria-invalid'), 'true');
        }
        assert.equal(await page.isVisible('#left-base-error'), false);
        assert.match(await page.textContent('#strangers'), /"lenght"/);
        await page.click('#strangers button:text-is("remove")');
        await settled(page); // what is below moves up
        await page.click('#left-layout-error button'); // did you mean interleaved
        await page.fill('#left-dim', '8');
        await drawn(page);
        assert.equal(await page.isVisible('.error'), false);
        assert.equal(
            new URL(page.url()).search,
            '?scheme=sinusoidal&length=4&dim=8&layout=interleaved&view=heatmap',
        );
    },
);

// What lies under the middle of the last panel.
async function overMiddle(page) {
    await page.locator('canvas.plot').last().hover();
    await page.waitForFunction(() =>
        document.querySelector('#readout').textContent.startsWith('query'),
    );
    return readout(page);
}

pageTest(
    'an address restores all that was seen, and back and forward lead through it',
    {},
    async (page) => {
        const address =
            '?scheme=alibi&length=64&heads=4&right.scheme=alibi&right.length=64&right.heads=8' +
            '&view=heatmap&view.slice=3&view.mark=32';
        await open(page, address);
        await page.focus('canvas.plot');
        for (const key of ['+', '+', 'ArrowDown', 'ArrowRight', 'ArrowDown'])
            await page.keyboard.press(key);
        await page.waitForFunction(() => location.search.includes('view.zoom'));
        await settled(page); // the address may have some of the keys first
        const [seen, address2] = [await readout(page), page.url()];
        const hovered = await overMiddle(page);
        assert.match(seen, /^query 1 · key 1 · A 0 · B 0/);
        await openMore(page);
        await page.selectOption('#left-mask', 'causal');
        await drawn(page);
        await page.fill('#tools input[type=number]', '2'); // head
        await page.keyboard.press('Tab');
        await drawn(page);
        assert.match(page.url(), /view\.slice=2/);
        await page.goBack();
        await drawn(page);
        assert.match(page.url(), /mask=causal.*view\.slice=3/);
        await page.goBack();
        await drawn(page);
        assert.equal(page.url(), address2);
        assert.equal(await page.inputValue('#left-mask'), '');
        await page.goForward();
        await drawn(page);
        assert.equal(await page.inputValue('#left-mask'), 'causal');
        await page.goto('about:blank');
        await page.goto(address2);
        await drawn(page);
        assert.equal(await page.inputValue('#tools input[type=number]'), '3');
        await page.focus('canvas.plot');
        for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight'])
            await page.keyboard.press(key);
        assert.equal(await readout(page), seen);
        assert.equal(await overMiddle(page), hovered, 'the same place of the table');
    },
);

const entries = (page) => page.evaluate(() => history.length);
const lengthOf = (page) =>
    Number(new URLSearchParams(new URL(page.url()).search).get('length'));

pageTest(
    'a slider moved by keys loads as it goes; what comes without a rest is one entry of the ' +
        'history',
    {},
    async (page) => {
        await stopClock(page);
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        const before = await entries(page);
        await page.focus('#left-length ~ input[type=range]');
        for (let i = 0; i < 5; i++) await page.keyboard.press('PageUp');
        await drawn(page);
        const first = lengthOf(page);
        assert.ok(first > 50, String(first));
        assert.match(
            await page.getAttribute('canvas.plot', 'aria-label'),
            new RegExp(`${first} positions`),
        );
        assert.equal(await entries(page), before + 1);
        await rest(page, 1100);
        await page.keyboard.press('PageUp');
        await drawn(page);
        assert.equal(await entries(page), before + 2);
        await page.fill('#left-dim', '10'); // another parameter
        await drawn(page);
        assert.equal(await entries(page), before + 3);
        for (const [length, dim] of [
            [lengthOf(page), '8'],
            [first, '8'],
            [16, '8'],
        ]) {
            await page.goBack();
            await drawn(page);
            assert.equal(lengthOf(page), length);
            assert.equal(await page.inputValue('#left-dim'), dim);
        }
        await page.focus('#left-length ~ input[type=range]');
        await page.keyboard.press('PageUp');
        await page.waitForFunction(() => !location.search.includes('length=16'));
        await page.goBack();
        await page.waitForFunction(() => location.search.includes('length=16'));
        await page.keyboard.press('PageUp'); // after going back nothing goes on
        await drawn(page);
        assert.notEqual(lengthOf(page), 16);
        await page.goBack();
        await drawn(page);
        assert.equal(lengthOf(page), 16);
    },
);

pageTest(
    'a drag of a slider is one entry of the history, however long it takes',
    {},
    async (page) => {
        await stopClock(page);
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        const before = await entries(page);
        const box = await page.locator('#left-length ~ input[type=range]').boundingBox();
        const to = (part) => page.mouse.move(box.x + part * box.width, box.y + box.height / 2);
        await to(0.3);
        await page.mouse.down();
        for (const part of [0.35, 0.4, 0.45]) {
            await to(part);
            await drawn(page);
            assert.match(
                await page.getAttribute('canvas.plot', 'aria-label'),
                new RegExp(`${lengthOf(page)} positions`),
            );
            if (part === 0.4) await rest(page, 1100);
        }
        await page.mouse.up();
        assert.equal(await entries(page), before + 1);
        await page.goBack();
        await drawn(page);
        assert.equal(lengthOf(page), 16);
    },
);

pageTest(
    'a slider that overtakes what is loading comes to its last value',
    {},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        let asked = 0;
        await page.route('**/v1/encodings/**format=raw**', async (route) => {
            // not what wavelengths are found by
            if (route.request().url().includes('length=')) asked++;
            await new Promise((done) => setTimeout(done, 60));
            await route.continue();
        });
        await page.focus('#left-length ~ input[type=range]');
        const first = page.waitForRequest(/format=raw.*length=|length=.*format=raw/);
        await page.keyboard.press('ArrowRight');
        await first;
        for (let i = 0; i < 11; i++) await page.keyboard.press('ArrowRight');
        await drawn(page);
        assert.equal(lengthOf(page), 28, 'each key is a step');
        assert.match(
            await page.getAttribute('canvas.plot', 'aria-label'),
            new RegExp(`${lengthOf(page)} positions`),
        );
        assert.ok(asked >= 2 && asked <= 12, `${asked} requests`);
    },
);

pageTest(
    'loading can be cancelled, and then goes on with the next change',
    {expected: /ERR_ABORTED|ERR_FAILED/},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        let held = 0;
        const aborted = new Promise((resolve) =>
            page.on('requestfailed', (request) => resolve(request.failure().errorText)),
        );
        await page.route('**/v1/encodings/**length=17**', () => {
            held++;
        }); // never answered
        await page.fill('#left-length', '17');
        await page.waitForSelector('#cancel', {state: 'visible'});
        await page.click('#cancel');
        await page.waitForFunction(
            () => document.querySelector('#message').textContent === 'Cancelled.',
        );
        assert.equal(await page.isVisible('#cancel'), false);
        assert.match(await aborted, /ABORTED/);
        assert.equal(held, 1);
        assert.equal(await page.isVisible('#resume'), true);
        await page.click('#undo');
        await drawn(page);
        assert.match(page.url(), /length=16&/);
        assert.equal(await page.isVisible('#resume'), false);
        await page.fill('#left-length', '17');
        await page.waitForSelector('#cancel', {state: 'visible'});
        await page.keyboard.press('Escape');
        await page.unroute('**/v1/encodings/**length=17**');
        await page.click('#resume');
        await drawn(page);
        assert.match(await page.getAttribute('canvas.plot', 'aria-label'), /17 positions/);
        await page.fill('#left-length', '18');
        await drawn(page);
        assert.match(await page.getAttribute('canvas.plot', 'aria-label'), /18 positions/);
    },
);

pageTest('a large table is asked for in windows', {}, async (page) => {
    const answers = [];
    page.on('response', (response) => {
        if (response.url().includes('length=1000000&dim=512&tensor=encoding&format=raw'))
            answers.push(response);
    });
    await open(page, '?scheme=sinusoidal&length=1000000&dim=512');
    await page.click('button:text-is("On")');
    await drawn(page);
    assert.equal(answers.length, 2);
    for (const answer of answers) {
        assert.equal(answer.status(), 206);
        assert.ok(Number(answer.headers()['content-length']) <= 2 ** 24);
    }
    assert.match(page.url(), /view\.row=8192/);
    await page.focus('canvas.plot');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight']) await page.keyboard.press(key);
    const [value] = (
        await (await fetch(`${url}/v1/encodings/sinusoidal?positions=8193&dim=512`)).json()
    ).tensors[0].data[0].slice(1);
    assert.ok(
        (await readout(page)).startsWith(`position 8193 · dimension 1 · value ${value}`),
        await readout(page),
    );
});

pageTest('replies are shown with their cache status and timing', {}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=31&dim=6&base=777');
    assert.match(await page.textContent('#replies'), /cache miss, compute [\d.]+ ms/);
    await page.reload();
    await drawn(page);
    assert.match(await page.textContent('#replies'), /cache hit/);
});

pageTest(
    'a cold load is light, and the time of the first paint is told',
    {},
    async (page, t) => {
        const client = await page.context().newCDPSession(page);
        let bytes = 0,
            formulas = 0; // of what typesets them, for which no picture waits
        const late = new Set();
        await client.send('Network.enable');
        client.on('Network.responseReceived', ({requestId, response}) => {
            if (/\/math\.|\.woff2$/.test(response.url)) late.add(requestId);
        });
        client.on('Network.loadingFinished', ({requestId, encodedDataLength}) => {
            if (late.has(requestId)) formulas += encodedDataLength;
            else bytes += encodedDataLength;
        });
        await open(page);
        const paint = await page.evaluate(
            () => performance.getEntriesByName('first-contentful-paint')[0].startTime,
        );
        t.diagnostic(
            `cold load ${(bytes / 1e3).toFixed(1)} kB and ${(formulas / 1e3).toFixed(1)} kB ` +
                `for formulas, first contentful paint after ` +
                `${paint.toFixed(0)} ms`,
        );
        assert.ok(bytes > 10e3 && bytes < MOST_BYTES, `${bytes} bytes`);
        assert.ok(formulas < MOST_FORMULA_BYTES, `${formulas} bytes`);
    },
);
