// Runs the tests of every *.test.js beside it, or of those named: node main.js [heatmap …]
import {readdirSync} from 'node:fs';
import {dirname} from 'node:path';
import {fileURLToPath} from 'node:url';

const named = process.argv.slice(2);
const files = readdirSync(dirname(fileURLToPath(import.meta.url))).filter((file) =>
    file.endsWith('.test.js'),
);
const chosen = files.filter(
    (file) => named.length === 0 || named.includes(file.replace('.test.js', '')),
);
if (chosen.length === 0) throw new Error(`no tests named ${named}; there are ${files}`);
for (const file of chosen) await import(`./${file}`);
