/* bundlers.mjs PROJECT BUNDLER: a page whose script imports the package that is installed in
 * PROJECT, bundled as the bundler's manual says, in a browser. Prints what the page says. */
/* global document */
import {execFileSync} from 'node:child_process';
import {copyFileSync, createReadStream, existsSync, mkdirSync, writeFileSync} from 'node:fs';
import {createServer} from 'node:http';
import {createRequire} from 'node:module';
import {extname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'vite';
import webpack from 'webpack';

const [project, bundler] = process.argv.slice(2);
const {chromium} = createRequire(new URL('../browser/package.json', import.meta.url))(
    'playwright-core',
);
const TYPES = {'.html': 'text/html', '.js': 'text/javascript', '.wasm': 'application/wasm'};
const dist = join(project, bundler);
const page = (script) => `<!doctype html><script type="module" src="${script}"></script>`;

const BUNDLERS = {
    async vite() {
        writeFileSync(join(project, 'index.html'), page('./app.js'));
        await build({root: project, base: './', build: {outDir: dist}, logLevel: 'warn'});
    },
    async webpack() {
        const settings = {
            mode: 'production',
            context: project,
            entry: './app.js',
            output: {path: dist},
        };
        await new Promise((done, failed) =>
            webpack(settings, (error, stats) =>
                error || stats.hasErrors() ? failed(error ?? new Error(`${stats}`)) : done(),
            ),
        );
        writeFileSync(join(dist, 'index.html'), page('./main.js'));
    },
    async esbuild() {
        const program = fileURLToPath(new URL('node_modules/.bin/esbuild', import.meta.url));
        const flags = ['app.js', '--bundle', '--format=esm', '--outdir=esbuild'];
        execFileSync(program, flags, {cwd: project, stdio: ['ignore', 'ignore', 'inherit']});
        for (const name of ['worker.js', 'engine.js', 'posenc.wasm'])
            copyFileSync(join(project, 'node_modules/posenc', name), join(dist, name));
        writeFileSync(join(dist, 'index.html'), page('./app.js'));
    },
};

mkdirSync(dist, {recursive: true});
await BUNDLERS[bundler]();
const server = createServer((request, response) => {
    const name = request.url.slice(1) || 'index.html';
    if (!existsSync(join(dist, name))) return response.writeHead(404).end();
    response.writeHead(200, {'Content-Type': TYPES[extname(name)] ?? 'text/plain'});
    createReadStream(join(dist, name)).pipe(response);
});
await new Promise((listens) => server.listen(0, '127.0.0.1', listens));
const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    chromiumSandbox: false,
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--no-first-run'],
});
try {
    const tab = await browser.newPage();
    for (const event of ['pageerror', 'console'])
        tab.on(event, (said) => console.error(event, said.text?.() ?? String(said)));
    await tab.goto(`http://127.0.0.1:${server.address().port}/`);
    await tab.waitForFunction(() => document.title !== '', null, {timeout: 120_000});
    console.log(JSON.stringify([...JSON.parse(await tab.title()), tab.workers().length]));
} finally {
    await browser.close();
    server.close();
}
