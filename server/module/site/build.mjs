/* build.mjs MODULE SITE: the pages as a folder of static files, which need no server: any host
 * of files serves it, below any path. MODULE is the folder with posenc.wasm and its scripts. */
import {execFileSync} from 'node:child_process';
import {createHash} from 'node:crypto';
import {mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {basename, join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';
import {gzipSync} from 'node:zlib';

const [module, site] = process.argv.slice(2);
const here = fileURLToPath(new URL('.', import.meta.url));
const pages = join(here, '../../visualiser');
const SCRIPTS = ['posenc.js', 'engine.js', 'worker.js'];
const text = (path) => readFileSync(path, 'utf8');
const digest = (data) => createHash('sha256').update(data).digest('hex').slice(0, 8);

const files = new Map(); // {name: content}
const addresses = {'/docs': 'docs.html', '/': 'index.html', '/openapi.json': 'openapi.json'};
addresses['/v1/schemes'] = 'schemes.json';

/** A script that is no module, so that browsers load it from a file, too. */
const classic = (script) => `(async () => {${script}\n})();\n`;

for (const name of readdirSync(join(pages, 'bundle')).filter((each) => each.includes('.'))) {
    const data = readFileSync(join(pages, 'bundle', name));
    const content = name.endsWith('.js') ? classic(data.toString()) : data;
    const [stem, ...ending] = name.split('.');
    const address = ending.length > 1 ? name : `${stem}.${digest(content)}.${ending}`;
    addresses[`{{${name}}}`] = `assets/${address}`;
    files.set(`assets/${address}`, content);
}
for (const [name, content] of Object.entries({
    'documents.html': execFileSync('sh', [join(pages, 'documents.sh')]),
    'licence.txt': readFileSync(join(pages, '../../LICENSE')),
})) {
    addresses[`{{${name}}}`] = `assets/${name}`;
    files.set(`assets/${name}`, content);
}
addresses['{{icon.svg}}'] = 'assets/icon.svg';
files.set('assets/icon.svg', readFileSync(join(pages, 'icon.svg')));

for (const name of ['index.html', 'docs.html'])
    files.set(
        name,
        text(join(pages, name))
            .replace(/(href|src)="([^"]+)"/g, (all, attribute, given) =>
                given in addresses ? `${attribute}="${addresses[given]}"` : all,
            )
            .replace(
                /<script type="module" src/,
                '<script defer src="site.js"></script>\n<script defer src',
            ),
    );

for (const name of [...SCRIPTS, 'posenc.wasm'])
    files.set(`module/${name}`, readFileSync(join(module, name)));
const plain = (path) =>
    text(path)
        .replace(/^import .*;$/gm, '')
        .replace(/^export /gm, '')
        .replaceAll('import.meta.url', 'SCRIPT');
files.set(
    'site.js',
    `(() => {const SCRIPT = document.currentScript.src;\n${[
        join(module, 'engine.js'),
        join(module, 'posenc.js'),
        join(here, 'page.js'),
    ]
        .map(plain)
        .join('\n')}})();\n`,
);
const packed = gzipSync(files.get('module/posenc.wasm'), {level: 9}).toString('base64');
files.set('wasm.js', `globalThis.posencWasm = '${packed}';\n`);

// who previews a link asks no module for its picture
const PREVIEW = /(<meta property="og:image" content=)"([^"]+)"/;
const drawn = PREVIEW.exec(files.get('index.html'))[2].replaceAll('&amp;', '&');
files.set('index.html', files.get('index.html').replace(PREVIEW, '$1"preview.png"'));

const {open} = await import(pathToFileURL(join(module, 'posenc.js')));
const posenc = await open({worker: false});
const documents = {'/openapi.json': 'openapi.json', '/v1/schemes': 'schemes.json'};
for (const [path, name] of Object.entries(documents))
    files.set(name, await (await posenc.fetch(path)).text());
const picture = await posenc.fetch(drawn);
if (!picture.ok) throw new Error(`${drawn}: ${picture.status}`);
files.set('preview.png', Buffer.from(await picture.arrayBuffer()));
posenc.close();

const names = [...files.keys()].filter((name) => name !== 'wasm.js'); // for pages from files
const release = digest(names.map((name) => digest(files.get(name))).join());
files.set(
    'sw.js',
    text(join(here, 'sw.js'))
        .replace('FILES = []', `FILES = ${JSON.stringify(names)}`)
        .replace("RELEASE = ''", `RELEASE = '${release}'`),
);

rmSync(site, {recursive: true, force: true});
for (const folder of ['assets', 'module']) mkdirSync(join(site, folder), {recursive: true});
for (const [name, content] of files) writeFileSync(join(site, name), content);
console.log(`${basename(site)}: ${files.size} files for any host of static files`);
