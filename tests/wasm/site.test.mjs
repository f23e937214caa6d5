/* The site in a real browser: served below a path by a plain host of files, which then goes
 * away; and opened as a file. SITE is the folder, SCREENSHOTS where its picture goes. */
/* global document, requestAnimationFrame, window */
import assert from 'node:assert/strict';
import {createReadStream, existsSync, mkdirSync, readFileSync, statSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {extname, join, resolve} from 'node:path';
import {after, test} from 'node:test';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {parseCell} from '@observablehq/parser';

const site = resolve(process.env.SITE);
const browserTests = new URL('../browser/package.json', import.meta.url);
const {chromium} = createRequire(browserTests)('playwright-core');
const PATIENCE = 120_000;
const TYPES = {
    '.html': 'text/html',
    '.js': 'text/javascript',
    '.css': 'text/css',
    '.svg': 'image/svg+xml',
    '.json': 'application/json',
    '.wasm': 'application/wasm',
};
const ADDRESS = '?scheme=rope&length=64&dim=32&view=heatmap';

/** A host of files below /posenc/, which knows nothing of the service. As hosts of static
 * files do, it lets pages of other origins read them. */
async function host(folder = site, home = null) {
    const asked = [];
    const server = createServer((request, response) => {
        const path = new URL(request.url, 'http://localhost').pathname;
        asked.push(path);
        if (path === '/' && home)
            return response.writeHead(200, {'Content-Type': 'text/html'}).end(home);
        const name = path.replace(/^\/posenc\//, '') || 'index.html';
        const file = join(folder, name);
        const found =
            path.startsWith('/posenc/') && existsSync(file) && statSync(file).isFile();
        if (!found) return response.writeHead(404).end();
        response.writeHead(200, {
            'Content-Type': TYPES[extname(file)] ?? 'text/plain',
            'Access-Control-Allow-Origin': '*',
        });
        createReadStream(file).pipe(response);
    });
    await new Promise((listens) => server.listen(0, '127.0.0.1', listens));
    const stop = () => {
        server.closeAllConnections();
        return new Promise((closed) => server.close(closed));
    };
    after(stop); // also where a test fails before it stops its host
    return {url: `http://127.0.0.1:${server.address().port}/posenc/`, asked, stop};
}

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    chromiumSandbox: false,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
});
after(() => browser.close());

async function withPage(use, options = {}) {
    const context = await browser.newContext({
        viewport: {width: 1280, height: 900},
        ...options,
    });
    context.setDefaultTimeout(PATIENCE);
    const page = await context.newPage();
    const mistakes = [];
    page.on('pageerror', (error) => mistakes.push(String(error.stack ?? error)));
    page.on('console', (message) => {
        // a browser asks the host for the icon of a document that is no page
        if (message.location().url.endsWith('/favicon.ico')) return;
        if (message.type() === 'error') mistakes.push(message.text());
    });
    try {
        await use(page);
    } catch (error) {
        error.message += `\n${mistakes.join('\n')}`;
        throw error;
    } finally {
        await context.close();
    }
    assert.deepEqual(mistakes, []);
}

async function drawn(page) {
    await page.waitForSelector('#view[data-drawn]');
    await page.waitForFunction(() => !document.body.classList.contains('busy'));
    assert.equal(await page.textContent('#message'), '');
}

const form = (page) =>
    page.waitForFunction(() => document.querySelector('#release').textContent);

/** What a visitor does: look, identify a table, plan a model, take a file away. */
async function useEverything(page) {
    await form(page);
    assert.match(await page.textContent('#release'), /^posenc \S+, computed by this page/);
    const npy = await page.evaluate(async () => {
        const reply = await fetch('/v1/encodings/rope?length=32&dim=8&tensor=cos&format=npy');
        return [...new Uint8Array(await reply.arrayBuffer())];
    });
    await page.click('#identify-button');
    const table = {name: 'cos.npy', mimeType: 'application/x-npy', buffer: Buffer.from(npy)};
    await page.setInputFiles('#identify input[type=file]', table);
    await page.waitForFunction(() =>
        /rope/.test(document.querySelector('#identify').textContent),
    );
    await page.click('#model-button');
    await page.waitForSelector('#model option[value="llama-2-7b"]', {state: 'attached'});
    await page.click('#model-button');
    await page.click('#compare');
    await drawn(page);
    await page.evaluate(() => {
        document.querySelector('#takeaway').open = true;
    });
    const link = page.locator('.takeaway-files a', {hasText: 'npy'}).first();
    const saving = page.waitForEvent('download');
    await link.click();
    assert.match((await saving).suggestedFilename(), /\.npy$/);
}

test('below a path, then without the network', async () => {
    const {url, asked, stop} = await host();
    await withPage(async (page) => {
        await page.goto(url + ADDRESS);
        await drawn(page);
        await page.evaluate(() => navigator.serviceWorker.ready);
        await page.waitForFunction(() => navigator.serviceWorker.controller !== null);
        await stop();
        await page.goto(url + ADDRESS.replace('rope', 'sinusoidal'));
        await drawn(page);
        await useEverything(page);
        mkdirSync(process.env.SCREENSHOTS, {recursive: true});
        await page.screenshot({path: join(process.env.SCREENSHOTS, 'site.png')});
        await page.goto(`${url}?embed=1&${ADDRESS.slice(1)}`);
        await drawn(page);
        await page.goto(`${url}docs`);
        await page.waitForSelector('.operation');
        const document = await page.goto(`${url}v1/info`);
        assert.equal((await document.json()).form, 'module');
    });
    assert.ok(!asked.some((path) => path.includes('/v1/')), 'the host was asked for tables');
});

test('without service workers, as in a private window', async () => {
    const {url, stop} = await host();
    await withPage(
        async (page) => {
            await page.goto(url + ADDRESS);
            await drawn(page);
            await useEverything(page);
        },
        {serviceWorkers: 'block'},
    );
    await stop();
});

test('as a file', () =>
    withPage(async (page) => {
        await page.goto(pathToFileURL(join(site, 'index.html')) + ADDRESS);
        await drawn(page);
        await useEverything(page);
    }));

const folder = join(site, '../npm');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');

test('the canvas of the package’s README, by a script of the page', async () => {
    const [, example] = /```html\n(.*?)```/s.exec(readme);
    const page = `<!doctype html><link rel="icon" href="data:,">${example}`;
    const {url, stop} = await host(folder, page);
    await withPage(async (shown) => {
        await shown.goto(new URL('/', url).href);
        await shown.waitForFunction(() => document.querySelector('#heatmap').width === 256);
        const colours = await shown.evaluate(async () => {
            const canvas = document.querySelector('#heatmap');
            await new Promise((frame) => requestAnimationFrame(frame));
            const {data} = canvas.getContext('2d').getImageData(0, 0, 256, 256);
            return new Set(new Uint32Array(data.buffer)).size;
        });
        assert.ok(colours > 50, colours);
    });
    await stop();
});

/** A cell of a notebook as Observable's runtime takes it: [name, what it reads, function]. */
function cell(text) {
    const {id, body, async, references} = parseCell(text);
    const reads = references.map(({name}) => name);
    const value = `return (${text.slice(body.start, body.end)})`;
    return `[${JSON.stringify(id.name)}, ${JSON.stringify(reads)},
        ${async ? 'async ' : ''}(${reads}) => {${value}}]`;
}

test('the notebook of the package’s README, in Observable’s runtime', async () => {
    const files = await host(folder); // of another origin than the notebook
    const [, section] = /## A notebook\n(.*?)\n## /s.exec(readme);
    const cells = [...section.matchAll(/```js\n(.*?)```/gs)].map(([, text]) =>
        cell(text.replace('https://example.org/posenc/', files.url)),
    );
    assert.equal(cells.length, 2);
    const page = `<!doctype html><link rel="icon" href="data:,"><script type="module">
        import {Runtime} from './posenc/index.js';
        const notebook = new Runtime().module();
        for (const [name, reads, value] of [${cells}]) notebook.define(name, reads, value);
        window.found = notebook.value('rope');
    </script>`;
    const runtime = fileURLToPath(new URL('.', import.meta.resolve('@observablehq/runtime')));
    const notebook = await host(runtime, page);
    await withPage(async (shown) => {
        await shown.goto(new URL('/', notebook.url).href);
        const rope = await shown.evaluate(() => window.found);
        assert.deepEqual(rope.tensors[0].shape, [64, 16]);
        assert.equal(Math.fround(rope.tensors[0].data[1][0]), Math.fround(Math.cos(1)));
    });
    await Promise.all([files.stop(), notebook.stop()]);
});
