// Nothing is offered that cannot be: every slider of schemes, and a walk over all controls.
import assert from 'node:assert/strict';
import {open, openMore, pageTest, schemes, visit} from './harness.js';

const PLACES = [0, 1 / 3, 2 / 3, 1]; // of a slider, from end to end
// those whose rules join most parameters; ALL=1: every scheme, which takes minutes
const JOINED = 'sinusoidal,fourier,resized,rope,levit,swin';
const NAMES = (process.env.SCHEMES ?? JOINED).split(',');
const TRIED = schemes.filter(({name}) => process.env.ALL || NAMES.includes(name));
const PATIENCE = 20000; // milliseconds: the network of floater computes some sizes for minutes
const REFUSED = /status of 4\d\d/;

// Tables are zeros of the right size, so that many are drawn in a minute: what is legal the
// service says, in the header of a form that holds them.
const emptyTables = (page) =>
    page.addInitScript(() => {
        const real = window.fetch,
            bytes = {};
        window.fetch = async (address, options) => {
            const query = new URL(address, location.href).searchParams;
            const [form, tensor] = [query.get('format'), query.get('tensor')];
            query.delete('format');
            query.delete('tensor');
            const keyOf = (name) => `${address.split('?')[0]} ${query} ${name}`;
            if (form === 'raw' && address.startsWith('/v1/encodings/')) {
                const range = /bytes=(\d+)-(\d+)/.exec(options?.headers?.Range);
                const size = range ? range[2] - range[1] + 1 : bytes[keyOf(tensor)];
                if (size === undefined) return real(address, options);
                return new Response(new Uint8Array(size));
            }
            const response = await real(address, options);
            if (form === 'safetensors' && response.ok) {
                const text = await response.clone().text();
                for (const [, name, from, to] of text.matchAll(
                    /"(\w+)":\{"dtype"[^}]*"data_offsets":\[(\d+),(\d+)\]/g,
                ))
                    bytes[keyOf(name)] = to - from;
            }
            return response;
        };
    });

// window.hands: slideAll(places) and walk(steps, seed), which give the refusals that were red.
const installHands = (page) =>
    page.addInitScript((patience) => {
        // Until the page is at rest; what takes long is cancelled, as the page offers.
        const quiet = async () => {
            const end = performance.now() + patience;
            for (let calm = 0; calm < 2;) {
                await new Promise((next) => requestAnimationFrame(next));
                calm = document.body.classList.contains('busy') ? 0 : calm + 1;
                const cancel = document.querySelector('#cancel');
                if (performance.now() > end && cancel.checkVisibility()) cancel.click();
            }
        };
        const visible = (selector) =>
            [...document.querySelectorAll(selector)].filter(
                (each) => each.checkVisibility() && !each.disabled,
            );
        const refusal = () =>
            document.querySelector('#message').className === 'failed'
                ? [`${location.search}: ${document.querySelector('#message').textContent}`]
                : [];
        function move(slider, part) {
            slider.value = String(Math.round(part * Number(slider.max)));
            slider.dispatchEvent(new Event('input', {bubbles: true}));
            slider.dispatchEvent(new Event('change', {bubbles: true}));
        }
        async function slideAll(parts) {
            const start = location.search,
                refused = [];
            const sliders = () => visible('#left .field input[type=range]');
            const count = sliders().length;
            for (let i = 0; i < count; i++) {
                for (const part of parts) {
                    move(sliders()[i], part);
                    await quiet();
                    refused.push(...refusal());
                }
                history.pushState(null, '', start);
                dispatchEvent(new PopStateEvent('popstate'));
                await quiet();
            }
            return {tried: count * parts.length, refused};
        }
        // So many times something on a control that is drawn by lot; the refusals.
        async function walk(steps, seed) {
            let state = seed;
            const draw = (count) => {
                state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
                return Math.floor((state / 2 ** 32) * count);
            };
            const refused = [];
            for (let i = 0; i < steps; i++) {
                const controls = visible(
                    '#sides input[type=range], #sides select, #tabs button, #tools select, ' +
                        '#view select, #view input[type=range], #compare',
                );
                const control = controls[draw(controls.length)];
                if (control.type === 'range') move(control, draw(1001) / 1000);
                else if (control.tagName === 'BUTTON') control.click();
                else {
                    const options = [...control.options].filter((each) => !each.hidden);
                    control.value = options[draw(options.length)].value;
                    control.dispatchEvent(new Event('change', {bubbles: true}));
                }
                await quiet();
                refused.push(
                    ...refusal().map((each) => `${control.id || control.textContent}: ${each}`),
                );
            }
            return refused;
        }
        window.hands = {slideAll, walk};
    }, PATIENCE);

pageTest('no slider of a scheme leads to a refusal', {expected: REFUSED}, async (page) => {
    await emptyTables(page);
    await installHands(page);
    await open(page);
    let tried = 0;
    const refused = [];
    for (const {name} of TRIED) {
        await visit(page, `?scheme=${name}&view=heatmap`);
        await openMore(page);
        const found = await page.evaluate((parts) => window.hands.slideAll(parts), PLACES);
        tried += found.tried;
        refused.push(...found.refused);
    }
    assert.deepEqual(refused, []);
    assert.ok(tried >= 12 * TRIED.length, `${tried} places`);
});

const STEPS = 12; // of the walk over the controls of one scheme
const SEED = Number(process.env.SEED ?? 59);

pageTest(
    'a walk over all controls of a scheme meets no error',
    {expected: REFUSED},
    async (page) => {
        await emptyTables(page);
        await installHands(page);
        await open(page);
        const refused = [];
        for (const [i, {name}] of TRIED.entries()) {
            await visit(page, `?scheme=${name}&view=heatmap`);
            await openMore(page);
            const found = await page.evaluate(
                ([steps, seed]) => window.hands.walk(steps, seed),
                [STEPS, SEED + 1000 * i],
            );
            refused.push(...found);
        }
        assert.deepEqual(refused, [], `SEED=${SEED}`);
    },
);
