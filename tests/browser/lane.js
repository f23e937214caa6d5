// One of main.js's processes: runs the tests of the files that are named, each file a suite.
import {describe} from 'node:test';

await import('./harness.js'); // whose server and browser all of them use
for (const file of process.argv.slice(2)) describe(file, () => import(`./${file}`));
