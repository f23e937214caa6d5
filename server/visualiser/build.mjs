// Bundles the page, and writes it as a C source: node build.mjs FILE.
import {createHash} from 'node:crypto';
import {existsSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import {basename, dirname, join} from 'node:path';
import {fileURLToPath} from 'node:url';
import {gzipSync} from 'node:zlib';
import {build} from 'esbuild';

const here = dirname(fileURLToPath(import.meta.url));
const file = process.argv[2];

const MEDIA_TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

// Observable Plot adds a <style> element to every chart, which the page's policy refuses; style.css has its
// few rules instead. The build fails if a release of Plot does this in another place.
const plotWithoutStyles = {
  name: 'plot-without-styles',
  setup(builder) {
    builder.onLoad({filter: /@observablehq\/plot\/src\/.*\.js$/}, ({path}) => {
      const text = readFileSync(path, 'utf8');
      const contents = text.replace(/\w+\.(append\("style"\)|insert\("style", "\*"\))\.text\(/g, 'void (');
      if (/(append|insert|create)\("style"/.test(contents)) throw new Error(`${path} makes a <style> element`);
      if (/\/plot\.js$/.test(path) && contents === text) throw new Error(`${path} has changed: see style.css`);
      return {contents, loader: 'js'};
    });
  },
};

const bundled = await build({
  absWorkingDir: here,
  entryPoints: ['main.js', 'style.css'],
  entryNames: '[name].[hash]',
  outdir: 'assets',
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  legalComments: 'none', // all licences are served, see below
  metafile: true,
  write: false,
  plugins: [plotWithoutStyles],
  logLevel: 'warning',
});

// The licences of all packages that are in the bundle.
function licences(inputs) {
  const folders = new Set(inputs.map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean));
  return [...folders].sort().map((folder) => {
    const {name, version, license} = JSON.parse(readFileSync(join(here, folder, 'package.json'), 'utf8'));
    const text = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license'].map((each) => join(here, folder, each)).find(existsSync);
    return `${name} ${version} (${license})\n\n${text ? readFileSync(text, 'utf8').trim() : ''}\n`;
  }).join(`\n${'-'.repeat(72)}\n\n`);
}

const digest = (data) => createHash('sha256').update(data).digest('hex');

const outputs = bundled.outputFiles.map(({path, contents}) => ({path: `/assets/${basename(path)}`, contents: Buffer.from(contents)}));
function addOutput(name, type, contents) {
  outputs.push({path: `/assets/${name}.${digest(contents).slice(0, 8)}.${type}`, contents});
}
addOutput('icon', 'svg', readFileSync(join(here, 'icon.svg')));
addOutput('licences', 'txt', Buffer.from(licences(Object.keys(bundled.metafile.inputs))));

const pathOf = (name) => outputs.find(({path}) => new RegExp(`/${name.replace('.', '\\.[^.]+\\.')}$`).test(path)).path;
const page = readFileSync(join(here, 'index.html'), 'utf8').replace(/\{\{(.+?)\}\}/g, (_, name) => pathOf(name));
outputs.unshift({path: '/', contents: Buffer.from(page)});

const assets = outputs.map(({path, contents}, i) => {
  const packed = gzipSync(contents, {level: 9});
  const mediaType = MEDIA_TYPES[path === '/' ? 'html' : path.split('.').pop()];
  const tag = digest(contents).slice(0, 30);
  return {
    bytes: `static const unsigned char PLAIN_${i}[] = {${contents.join()}};\nstatic const unsigned char GZIP_${i}[] = {${packed.join()}};\n`,
    row: `    {"${path}", "${mediaType}", {PLAIN_${i}, sizeof PLAIN_${i}, "\\"${tag}\\""}, {GZIP_${i}, sizeof GZIP_${i}, "\\"${tag}-z\\""}},\n`,
    size: packed.length,
  };
});
writeFileSync(`${file}.new`, `/* Written by server/visualiser/build.mjs. */
#include "assets.h"

${assets.map(({bytes}) => bytes).join('')}
const api_asset visualiser_assets[] = {
${assets.map(({row}) => row).join('')}};
const size_t visualiser_asset_count = ${assets.length};
`);
renameSync(`${file}.new`, file);
