// Bundles the pages, and writes it as a C source: node build.mjs FILE.
import {createHash} from 'node:crypto';
import {existsSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const file = process.argv[2];

const PAGES = {'/docs': 'docs.html', '/': 'index.html'};
const MEDIA_TYPES = {
    html: 'text/html; charset=utf-8',
    js: 'text/javascript; charset=utf-8',
    css: 'text/css; charset=utf-8',
    svg: 'image/svg+xml',
    txt: 'text/plain; charset=utf-8',
};

// Observable Plot adds a <style> element to every chart, which the page's policy refuses;
// style.css has its few rules instead. The build fails if a release of Plot does this in
// another place.
const plotWithoutStyles = {
    name: 'plot-without-styles',
    setup(builder) {
        builder.onLoad({filter: /@observablehq\/plot\/src\/.*\.js$/}, ({path}) => {
            const text = readFileSync(path, 'utf8');
            const contents = text.replace(
                /\w+\.(append\("style"\)|insert\("style", "\*"\))\.text\(/g,
                'void (',
            );
            if (/(append|insert|create)\("style"/.test(contents))
                throw new Error(`${path} makes a <style> element`);
            if (/\/plot\.js$/.test(path) && contents === text)
                throw new Error(`${path} has changed: see style.css`);
            return {contents, loader: 'js'};
        });
    },
};

// Pictures within a style sheet become files: the pages' policy admits no data: addresses.
const picturesAsFiles = {
    name: 'pictures-as-files',
    setup(builder) {
        builder.onResolve({filter: /^data:image\/svg/}, ({path}) => ({
            path: `${digest(path)}.svg`,
            namespace: 'picture',
            pluginData: path,
        }));
        builder.onLoad({filter: /.*/, namespace: 'picture'}, async ({pluginData}) => ({
            contents: await (await fetch(pluginData)).text(),
            loader: 'file',
        }));
    },
};

const digest = (data) => createHash('sha256').update(data).digest('hex');

const bundled = await build({
    absWorkingDir: here,
    entryPoints: ['main.js', 'style.css', 'docs.js', 'docs.css'],
    entryNames: '[name].[hash]',
    assetNames: 'picture.[hash]',
    outdir: 'assets',
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2022',
    legalComments: 'none', // all licences are served, see below
    metafile: true,
    write: false,
    plugins: [plotWithoutStyles, picturesAsFiles],
    logLevel: 'warning',
});

// The licences of all packages that are in the bundles, and of what these have in bundles of
// their own.
function licences(inputs) {
    const folders = new Set(
        inputs
            .map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
            .filter(Boolean),
    );
    return [...folders]
        .sort()
        .map((folder) => {
            const {name, version, license} = JSON.parse(
                readFileSync(join(here, folder, 'package.json'), 'utf8'),
            );
            const own = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license']
                .map((each) => join(folder, each))
                .find((each) => existsSync(join(here, each)));
            const others = [
                join(folder, 'NOTICE'),
                ...inputs
                    .filter((path) => path.startsWith(`${folder}/`))
                    .map((path) => `${path}.LICENSE.txt`),
            ];
            const texts = [own, ...others].filter(
                (each) => each && existsSync(join(here, each)),
            );
            const said = texts.map((each) => readFileSync(join(here, each), 'utf8').trim());
            return `${name} ${version} (${license})\n\n${said.join('\n\n')}\n`;
        })
        .join(`\n${'-'.repeat(72)}\n\n`);
}

const outputs = bundled.outputFiles.map(({path, contents}) => ({
    path: `/assets/${basename(path)}`,
    contents: Buffer.from(contents),
}));
function addOutput(name, type, contents) {
    outputs.push({path: `/assets/${name}.${digest(contents).slice(0, 8)}.${type}`, contents});
}
addOutput('icon', 'svg', readFileSync(join(here, 'icon.svg')));
addOutput('licences', 'txt', Buffer.from(licences(Object.keys(bundled.metafile.inputs))));

const pathOf = (name) =>
    outputs.find(({path}) => new RegExp(`/${name.replace('.', '\\.[^.]+\\.')}$`).test(path))
        .path;
for (const [path, name] of Object.entries(PAGES)) {
    const page = readFileSync(join(here, name), 'utf8').replace(/\{\{(.+?)\}\}/g, (_, part) =>
        pathOf(part),
    );
    outputs.unshift({path, contents: Buffer.from(page)});
}

// bytes from which a file comes as gzip alone: the program would be half as large again
const LARGE = 256 * 1024;

// Bytes as a C string, which compilers read many times faster than a list of numbers.
const escaped = (c) => `\\${c.charCodeAt(0).toString(8).padStart(3, '0')}`;
const literal = (bytes) => `"${bytes.toString('latin1').replace(/[^ !#->@-[\]-~]/g, escaped)}"`;

const assets = outputs.map(({path, contents}, i) => {
    const packed = gzipSync(contents, {level: 9});
    const mediaType = MEDIA_TYPES[path in PAGES ? 'html' : path.split('.').pop()];
    const tag = digest(contents).slice(0, 30);
    const forms = [
        ['PLAIN', contents, tag],
        ['GZIP', packed, `${tag}-z`],
    ].slice(contents.length < LARGE ? 0 : 1);
    const members = forms.map(
        ([name, , etag]) =>
            `.${name.toLowerCase()} = {${name}_${i}, sizeof ${name}_${i} - 1, "\\"${etag}\\""}`,
    );
    return {
        bytes: forms
            .map(([name, bytes]) => `static const char ${name}_${i}[] = ${literal(bytes)};\n`)
            .join(''),
        row: `    {"${path}", "${mediaType}", ${members.join(', ')}},\n`,
        size: packed.length,
    };
});
writeFileSync(
    `${file}.new`,
    `/* Written by server/visualiser/build.mjs. */
#include "assets.h"

#pragma GCC diagnostic ignored "-Woverlength-strings"

${assets.map(({bytes}) => bytes).join('')}
const api_asset visualiser_assets[] = {
${assets.map(({row}) => row).join('')}};
const size_t visualiser_asset_count = ${assets.length};
`,
);
renameSync(`${file}.new`, file);
