// One server and one browser for all tests; pages that fail on any console error, page error or
// violation of the page's policy.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {existsSync, mkdirSync, readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {join, resolve} from 'node:path';
import {after, test} from 'node:test';
import {chromium} from 'playwright-core';

const SERVER = process.env.TEST_SERVER ?? 'build/posenc-server';
const SCREENSHOTS = process.env.SCREENSHOTS ?? 'build/screenshots';
// the same engine without windows of its own takes a quarter less of the processors
const CHROMIUM =
    process.env.CHROMIUM ??
    ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find((path) => existsSync(path));
const FLAGS = [
    '--headless',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
];
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const LATE = Number(process.env.LATE); // as late.js has it
const PATIENCE = 60000; // milliseconds until something that must happen is given up

// Start a server; {url, stop}.
export async function startServer(...flags) {
    const environment = Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !name.startsWith('POSENC_')),
    );
    const server = spawn(resolve(SERVER), ['--port', '0', ...flags], {
        env: environment,
        stdio: ['ignore', 'pipe', 'pipe'],
    });
    let said = '';
    const url = await new Promise((found, failed) => {
        const listen = (chunk) => {
            said += chunk;
            const at = /listening on (http:\S+)/.exec(said);
            if (at) found(at[1]);
        };
        server.stdout.on('data', listen);
        server.stderr.on('data', listen);
        server.on('exit', (code) =>
            failed(new Error(`the server ended with ${code}: ${said}`)),
        );
        server.on('error', failed);
    });
    const stop = () =>
        new Promise((ended) => {
            server.removeAllListeners('exit');
            server.on('exit', ended);
            server.kill('SIGINT');
        });
    return {url, stop, lastWords: () => said.trim().split('\n').slice(-2)};
}

// A server with flags of its own for what a page does in `run(url)`. The page leaves it before
// it ends: what the page still asks for would be refused, an error on its console.
export async function withServer(page, flags, run) {
    const own = await startServer(...flags);
    try {
        await run(own.url);
    } finally {
        await page.goto('about:blank');
        await own.stop();
    }
}

const server = await startServer();
export const {url} = server;
const bundled = (await (await fetch(url)).text()).includes('<html');
if (!bundled) await server.stop();
assert.ok(bundled, 'the server was built without its page: `make` says why');
// launch makes a new user data folder, and each context a cache and a storage of its own
export const browser = await chromium.launch({
    executablePath: CHROMIUM,
    headless: true,
    chromiumSandbox: false,
    args: FLAGS,
});
after(async () => {
    await browser.close();
    await server.stop();
});

export const {schemes} = await (await fetch(`${url}/v1/schemes`)).json();

// A page's timers and frames come late by `least` to `most` milliseconds.
export const delayClock = (page, least, most) =>
    page.addInitScript(
        ([from, to]) => {
            const [timer, frame] = [window.setTimeout, window.requestAnimationFrame];
            const late = () => from + (to - from) * Math.random();
            window.setTimeout = (run, wait = 0, ...values) =>
                timer(run, wait + late(), ...values);
            window.requestAnimationFrame = (run) => timer(() => frame(run), late());
            window.cancelAnimationFrame = (id) => clearTimeout(id);
        },
        [least, most],
    );

// What Playwright's newContext makes, which waits as long as tests do.
export async function newContext(settings) {
    const context = await browser.newContext(settings);
    context.setDefaultTimeout(PATIENCE);
    return context;
}

// A test with a page of its own. options: {expected: pattern of console errors that the test is
// about, and what Playwright's newContext takes}.
export function pageTest(name, options, run) {
    test(name, async (t) => {
        const {expected, ...settings} = options;
        const context = await newContext({viewport: {width: 1280, height: 900}, ...settings});
        const page = await context.newPage();
        const mistakes = [];
        const note = (text) => {
            if (!expected?.test(text)) mistakes.push(text);
        };
        page.on('console', (message) => {
            if (message.type() === 'error') note(message.text());
        });
        page.on('pageerror', (error) => note(String(error.stack ?? error)));
        await page.addInitScript(() => {
            addEventListener('securitypolicyviolation', ({violatedDirective, blockedURI}) =>
                console.error(`policy: ${violatedDirective} ${blockedURI}`),
            );
        });
        if (LATE > 0) await delayClock(page, 0, LATE);
        try {
            await run(page, t);
        } catch (error) {
            for (const line of mistakes) error.stack += `\npage: ${line.split('\n')[0]}`;
            for (const line of server.lastWords()) error.stack += `\nserver: ${line}`;
            throw error;
        } finally {
            await context.close();
        }
        assert.deepEqual(mistakes, [], 'errors on the page');
    });
}

// From now on the pages' clock stands still, but for `rest`: edits lie as far apart as a test
// says, however slow the machine is.
export async function stopClock(page) {
    await page.addInitScript(() => {
        let now = performance.now();
        performance.now = () => now;
        window.rest = (milliseconds) => {
            now += milliseconds;
        };
    });
}

export const rest = (page, milliseconds) =>
    page.evaluate((count) => window.rest(count), milliseconds);

// Open an address of the page ("?scheme=…") and wait for its drawing.
export async function open(page, address = '') {
    await page.goto(`${url}/${address}`);
    await drawn(page);
}

// Go to another address of the page that is open, which is not loaded anew: as "back" does.
export const go = (page, address) =>
    page.evaluate((to) => {
        history.pushState(null, '', to);
        dispatchEvent(new PopStateEvent('popstate'));
    }, address);

// The same, and wait for its drawing.
export async function visit(page, address) {
    await go(page, address);
    await drawn(page);
}

// Wait until what the state asks for is loaded and drawn, without a message of failure.
export async function drawn(page) {
    await page.waitForSelector('#view[data-drawn]');
    await settled(page);
    assert.equal(await page.textContent('#message'), '');
}

// Wait until nothing is under way, also nothing that waits for a pause in typing, nor a drawing
// that a new layout asks for: the page hears of its sizes at the end of a frame.
export async function settled(page) {
    await page.waitForTimeout(20); // until an event has been heard of
    await page.waitForFunction(() => {
        const busy = document.body.classList.contains('busy');
        window.quietFrames = busy ? 0 : (window.quietFrames ?? 0) + 1;
        return window.quietFrames > 2;
    });
    await page.evaluate(() => {
        window.quietFrames = 0;
    });
}

// Escape on a page at rest: while something loads, it cancels that and closes nothing.
export async function escape(page) {
    await settled(page);
    await page.keyboard.press('Escape');
}

// Try until it holds: a view may be about to be drawn anew.
export async function eventually(check) {
    for (
        const end = Date.now() + PATIENCE;
        ;
        await new Promise((wake) => setTimeout(wake, 50))
    ) {
        try {
            return await check();
        } catch (error) {
            if (Date.now() > end) throw error;
        }
    }
}

// Point at a place of an element until `check` holds, and give what it gives. `place` takes the
// element's box and gives [x, y] within it. What is laid out meanwhile moves the element away
// from the pointer, so both are found anew with each try.
export async function pointAt(page, element, place, check) {
    let again = false;
    return eventually(async () => {
        if (again) await page.mouse.move(0, 0);
        again = true;
        const box = await element.boundingBox();
        const [x, y] = place(box);
        await page.mouse.move(box.x + x, box.y + y);
        return check();
    });
}

// Choose a scheme in the list of a side.
export async function chooseScheme(page, name, side = 'left') {
    await page.click(`#${side}-scheme`);
    await page.click(`#${side}-picker [data-scheme=${name}]`);
}

// Open the part of a form with what is rarely needed.
export async function openMore(page, side = 'left') {
    await page.evaluate((id) => {
        document.querySelector(`#${id} .more`).open = true;
    }, side);
}

// What axe finds wrong in a part of the page, or in all of it: [] if nothing. `options` are
// those of axe.run.
export async function findings(page, part = 'html', options = {}) {
    await page.evaluate(AXE);
    const {violations} = await page.evaluate(
        ([context, given]) => globalThis.axe.run(context, given),
        [part, options],
    );
    return violations.map(({id, nodes}) => [
        id,
        nodes.map(({target, failureSummary}) => `${target}: ${failureSummary}`),
    ]);
}

// axe finds nothing on the page.
export async function assertAccessible(page, what) {
    assert.deepEqual(await findings(page), [], what);
}

export const readout = (page) => page.textContent('#readout');

// The readout, which must start so.
export async function readoutFrom(page, start) {
    const said = await readout(page);
    assert.ok(said.startsWith(start), `${said}, not ${start}`);
    return said;
}

export async function screenshot(page, name, {fullPage = true} = {}) {
    mkdirSync(SCREENSHOTS, {recursive: true});
    await page.screenshot({path: join(SCREENSHOTS, `${name}.png`), fullPage});
}
