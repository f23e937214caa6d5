// Bundles the scripts and style sheets of the pages into FOLDER: node build.mjs FOLDER. The
// same sources and packages give the same bytes. The file `sources` there says of which
// sources: build.sh compares them.
import {createHash} from 'node:crypto';
import {existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const folder = process.argv[2];

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

// The faces of KaTeX that formulas of the page are drawn with, in the one form that browsers of
// today all read.
const FACES = /KaTeX_(Main-Regular|Math-Italic|Size[1-4]-Regular)\.woff2/;
const fewFaces = {
    name: 'few-faces',
    setup(builder) {
        builder.onLoad({filter: /katex\/dist\/katex\.css$/}, ({path}) => ({
            contents: readFileSync(path, 'utf8')
                .replace(/@font-face\s*{[^}]*}/g, (face) => (FACES.test(face) ? face : ''))
                .replace(/(url\([^)]*\.woff2\) format\("woff2"\))[^;]*/g, '$1'),
            loader: 'css',
        }));
    },
};

const digest = (data) => createHash('sha256').update(data).digest('hex');

const bundle = (entryPoints, format) =>
    build({
        absWorkingDir: here,
        entryPoints,
        entryNames: '[name]',
        assetNames: 'asset.[hash]',
        loader: {'.woff2': 'file'},
        outdir: 'assets',
        bundle: true,
        minify: true,
        format,
        target: 'es2022',
        legalComments: 'none', // all licences are served, see below
        metafile: true,
        write: false,
        plugins: [plotWithoutStyles, picturesAsFiles, fewFaces],
        logLevel: 'warning',
    }).catch(() => process.exit(1)); // esbuild has said why

// the last one is loaded by a page, and leaves nothing but what it puts into the global object
const bundles = [
    await bundle(
        ['main.js', 'style.css', 'math.js', 'math.css', 'plots.js', 'docs.js', 'docs.css'],
        'esm',
    ),
    await bundle(['reference.js'], 'iife'),
];

// The licences of all packages that are in the bundles, of what these have in bundles of their
// own, and of fonts.
function licences(inputs) {
    const packages = new Set(
        inputs
            .map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0])
            .filter(Boolean),
    );
    return [...packages]
        .sort()
        .map((root) => {
            const {name, version, license} = JSON.parse(
                readFileSync(join(here, root, 'package.json'), 'utf8'),
            );
            const own = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license']
                .map((each) => join(root, each))
                .find((each) => existsSync(join(here, each)));
            const others = [
                join(root, 'NOTICE'),
                ...inputs
                    .filter((path) => path.startsWith(`${root}/`))
                    .map((path) => `${path}.LICENSE.txt`),
                ...(inputs.some((path) => path.startsWith(root) && path.endsWith('.woff2'))
                    ? ['fonts.txt']
                    : []),
            ];
            const texts = [own, ...others].filter(
                (each) => each && existsSync(join(here, each)),
            );
            const said = texts.map((each) => readFileSync(join(here, each), 'utf8').trim());
            return `${name} ${version} (${license})\n\n${said.join('\n\n')}\n`;
        })
        .join(`\n${'-'.repeat(72)}\n\n`);
}

const inputs = [...new Set(bundles.flatMap(({metafile}) => Object.keys(metafile.inputs)))];
const own = inputs.filter(
    (path) => existsSync(join(here, path)) && !/^node_modules\//.test(path),
);
const sources = [...own, 'build.mjs', 'fonts.txt', 'package-lock.json']
    .sort()
    .map((path) => `${digest(readFileSync(join(here, path)))}  ${path}\n`);
const files = new Map([
    ...bundles.flatMap(({outputFiles}) =>
        outputFiles.map(({path, contents}) => [basename(path), contents]),
    ),
    ['licences.txt', licences(inputs)],
    ['sources', sources.join('')],
]);

mkdirSync(folder, {recursive: true});
for (const name of readdirSync(folder).filter((each) => !files.has(each)))
    rmSync(join(folder, name));
for (const [name, contents] of files) writeFileSync(join(folder, name), contents);
