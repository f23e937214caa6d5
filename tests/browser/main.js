// Runs the tests of every *.test.js beside it, or of those named: node main.js [heatmap …]
//
// Two processes share the files, each with a server and a browser: tests wait more than they
// compute. Ends with what failed and why, and with the number of tests.
import {spawn} from 'node:child_process';
import {readdirSync, statSync} from 'node:fs';
import {join} from 'node:path';
import {createInterface} from 'node:readline';
import {fileURLToPath} from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
const LANES = 2;
const SHOWN = 4; // failures; the rest is counted
const LINES = 28; // for all of them
const NOISE = /^\+ actual - expected$|^[+\-\s[\]{}(),]*$/; // says nothing about why
const SAID = /^(page|server): /; // by the page's console, by the server
const SAID_LINES = 3; // at most, the last ones
const ENDING = '.test.js';

function chooseFiles(named) {
    const files = readdirSync(HERE).filter((file) => file.endsWith(ENDING));
    const unknown = named.filter((name) => !files.includes(name + ENDING));
    if (unknown.length > 0) throw new Error(`no tests named ${unknown}; there are ${files}`);
    return named.length === 0 ? files : named.map((name) => name + ENDING);
}

// The files for each process: the largest first, always to the one with less.
function shareOut(files) {
    const lanes = Array.from({length: Math.min(LANES, files.length)}, () => ({
        files: [],
        size: 0,
    }));
    const sized = files.map((file) => ({file, size: statSync(join(HERE, file)).size}));
    for (const {file, size} of sized.sort((a, b) => b.size - a.size)) {
        const least = lanes.reduce((a, b) => (b.size < a.size ? b : a));
        least.files.push(file);
        least.size += size;
    }
    return lanes.map((lane) => lane.files);
}

// Run files in a process of their own: {results, status}.
async function run(files) {
    const reporter = join(HERE, 'reporter.js');
    const child = spawn(
        process.execPath,
        [
            '--test-reporter',
            reporter,
            '--test-reporter-destination',
            'stdout',
            'lane.js',
            ...files,
        ],
        {cwd: HERE, stdio: ['ignore', 'pipe', 'inherit'], env: environment()},
    );
    const ended = new Promise((resolve) => child.on('close', resolve));
    const results = [];
    for await (const line of createInterface({input: child.stdout})) {
        const result = line.startsWith('{"file":') ? JSON.parse(line) : undefined;
        if (result) results.push(result);
        console.log(result ? `${result.failure ? 'not ok' : 'ok'} ${result.name}` : line);
    }
    return {results, status: await ended};
}

// This process's environment, with paths that hold in another folder.
function environment() {
    const given = {
        TEST_SERVER: process.env.TEST_SERVER ?? 'build/posenc-server',
        SCREENSHOTS: process.env.SCREENSHOTS ?? 'build/screenshots',
        TEST_PROGRAM: process.env.TEST_PROGRAM ?? 'build/posenc',
    };
    const whole = Object.entries(given).map(([name, path]) => [
        name,
        join(process.cwd(), path),
    ]);
    return {...process.env, ...Object.fromEntries(whole)};
}

// One failure, in at most so many lines.
function show({file, name, failure}, most) {
    const lines = failure.split('\n').filter((line) => !NOISE.test(line));
    const said = lines.filter((line) => SAID.test(line)).slice(-SAID_LINES);
    const why = lines.filter((line) => !SAID.test(line)).slice(0, most - 2 - said.length);
    console.log(`FAILED tests/browser/${file}: ${name}`);
    for (const line of [...why, ...said]) console.log(`  ${line.slice(0, 200)}`);
    console.log(`  alone: make browser VIEW=${file.replace(ENDING, '')}`);
}

const lanes = await Promise.all(shareOut(chooseFiles(process.argv.slice(2))).map(run));
const results = lanes.flatMap((lane) => lane.results);
const failed = results.filter((result) => result.failure);
const broken = lanes.some((lane) => lane.status !== 0);
const shown = failed.slice(0, SHOWN);
for (const each of shown) show(each, Math.floor(LINES / shown.length));
if (failed.length > SHOWN) console.log(`and ${failed.length - SHOWN} more that failed, above`);
if (broken && failed.length === 0) console.log('FAILED: a process ended early, see above');
const wrong = Math.max(failed.length, broken || results.length === 0 ? 1 : 0);
console.log(`browser: ${results.length - failed.length} passed, ${wrong} failed`);
process.exitCode = wrong === 0 ? 0 : 1;
