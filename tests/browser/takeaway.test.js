// Take it away: the code is run, the files are downloaded, permalinks restore what was seen,
// and pages of other origins may have it all.
import assert from 'node:assert/strict';
import {execFileSync, spawnSync} from 'node:child_process';
import {mkdtempSync, readFileSync, readdirSync, rmSync} from 'node:fs';
import {createServer} from 'node:http';
import {tmpdir} from 'node:os';
import {delimiter, dirname, join, resolve} from 'node:path';
import {fileURLToPath} from 'node:url';
import {after, before, test} from 'node:test';
import {SITE_SNIPPETS, SNIPPETS} from '../../server/visualiser/snippets.js';
import {
    chooseScheme,
    drawn,
    escape,
    eventually,
    newContext,
    open,
    openMore,
    pageTest,
    pointAt,
    readout,
    screenshot,
    url,
} from './harness.js';

const PYTHON = process.env.PYTHON ?? '/usr/bin/python3';
const DRIVER = fileURLToPath(new URL('run_snippets.py', import.meta.url));
const TORCH =
    spawnSync(PYTHON, [
        '-c',
        'import importlib.util as u, sys; sys.exit(u.find_spec("torch") is None)',
    ]).status === 0;

// What is taken away: the page's address, and the API's without a format.
const CASES = [
    {name: 'plain', query: 'sinusoidal?length=6&dim=8', dtype: 'f32'},
    {name: 'a list', query: 'sinusoidal?positions=0,5,131071&dim=8', dtype: 'f32'},
    {
        name: 'a choice',
        query: 'sinusoidal?length=6&dim=8&layout=concat_cos_first&dtype=f64',
        dtype: 'f64',
    },
    {name: 'bf16', query: 'sinusoidal?length=6&dim=8&dtype=bf16', dtype: 'bf16'},
    {
        name: 'f16 with subnormals',
        query: 'sinusoidal?length=6&dim=8&amplitude=2e-6&dtype=f16',
        dtype: 'f16',
    },
    {
        name: 'f16 with infinities',
        query: 'alibi?length=5&heads=2&mask=causal&dtype=f16&tensor=bias',
        dtype: 'f16',
    },
    {name: 'rank 3', query: 'shaw?length=5&dim=4&max_distance=3&tensor=values', dtype: 'f32'},
    {name: 'integers', query: 't5?length=9&heads=2&tensor=bucket', dtype: 'i32'},
].map((each) => ({
    ...each,
    page: `?scheme=${each.query.replace('?', '&').replace('&tensor=', '&view.tensor=')}`,
}));

const body = async (query, format) => {
    const reply = await fetch(`${url}/v1/encodings/${query}&format=${format}`);
    assert.equal(reply.status, 200, `${query} as ${format}`);
    return {
        bytes: Buffer.from(await reply.arrayBuffer()),
        shape: reply.headers.get('Tensor-Shape').split(', ').map(Number),
    };
};

// The elements as they lie in the npy body; of bf16, which npy has not, as in the raw one.
async function expectedOf({query, dtype}) {
    const {bytes, shape} = await body(query, dtype === 'bf16' ? 'raw' : 'npy');
    return {
        shape,
        bytes: dtype === 'bf16' ? bytes : bytes.subarray(10 + bytes.readUInt16LE(8)),
    };
}

// bf16 is the upper half of f32.
function widened(bytes) {
    const wide = Buffer.alloc(2 * bytes.length);
    for (let i = 0; i < bytes.length; i += 2) bytes.copy(wide, 2 * i + 2, i, i + 2);
    return wide;
}

async function openPanel(page) {
    await page.click('#takeaway > summary');
    await page.waitForSelector('#takeaway pre');
}

// The code as the page shows it, by its name.
async function codesOf(page, snippets = SNIPPETS) {
    const codes = {};
    for (const {name} of snippets) {
        await page.click(`#takeaway [role=group] button:text-is("${name}")`);
        codes[name] = await page.textContent('#takeaway pre');
    }
    return codes;
}

async function allCodes(page) {
    const codes = [];
    for (const each of CASES) {
        await open(page, each.page);
        await openPanel(page);
        codes.push({...each, ...(await codesOf(page)), expected: await expectedOf(each)});
    }
    return codes;
}

let shown; // the code of every case
let other; // a server of a blank page, on another port
before(async () => {
    other = createServer((_, reply) =>
        reply
            .setHeader('Content-Type', 'text/html')
            .end('<!doctype html><title>elsewhere</title>'),
    );
    await new Promise((ready) => other.listen(0, '127.0.0.1', ready));
    const context = await newContext();
    shown = await allCodes(await context.newPage());
    await context.close();
});
after(() => other.close());
const elsewhere = () => `http://127.0.0.1:${other.address().port}/`;

const python = (codes, env = process.env) =>
    JSON.parse(
        execFileSync(PYTHON, ['-B', DRIVER], {
            env,
            input: JSON.stringify(codes),
            maxBuffer: 2 ** 26,
        }),
    );

test('the code for curl saves the service’s file', async () => {
    for (const {name, curl, query, dtype} of shown) {
        const folder = mkdtempSync(join(tmpdir(), 'takeaway-'));
        try {
            execFileSync('bash', ['-ec', curl], {cwd: folder, stdio: 'ignore'});
            const [file, ...more] = readdirSync(folder);
            const format = dtype === 'bf16' ? 'safetensors' : 'npy';
            assert.deepEqual(more, []);
            assert.match(file, new RegExp(`^${query.split('?')[0]}_.*\\.${format}$`), name);
            assert.ok(
                readFileSync(join(folder, file)).equals((await body(query, format)).bytes),
                name,
            );
        } finally {
            rmSync(folder, {recursive: true});
        }
    }
});

const NUMPY = {f32: 'float32', f64: 'float64', f16: 'float16', bf16: 'float32', i32: 'int32'};
let wide; // what numpy makes of each table in float32

test('the code for numpy gives the bits of the npy body', () => {
    const tables = python(shown.map(({numpy}) => numpy));
    wide = tables.map((table) => table.wide);
    shown.forEach(({name, dtype, expected}, i) => {
        assert.equal(tables[i].dtype, NUMPY[dtype], name);
        assert.deepEqual(tables[i].shape, expected.shape, name);
        assert.equal(
            tables[i].bytes,
            (dtype === 'bf16' ? widened(expected.bytes) : expected.bytes).toString('hex'),
            name,
        );
    });
});

test(
    'the code for torch gives the bits of the npy body',
    {skip: TORCH ? false : 'torch is not installed'},
    () => {
        const tables = python(shown.map(({torch}) => torch));
        const types = {...NUMPY, bf16: 'bfloat16'};
        shown.forEach(({name, dtype, expected}, i) => {
            assert.equal(tables[i].dtype, `torch.${types[dtype]}`, name);
            assert.deepEqual(tables[i].shape, expected.shape, name);
            assert.equal(tables[i].bytes, expected.bytes.toString('hex'), name);
        });
    },
);

const ARRAYS = {
    f32: 'Float32Array',
    f64: 'Float64Array',
    f16: 'Float32Array',
    bf16: 'Float32Array',
    i32: 'Int32Array',
};
const TELL =
    '({shape, type: table.constructor.name, bytes: [...new Uint8Array(table.buffer)]' +
    ".map((byte) => byte.toString(16).padStart(2, '0')).join('')})";

function checkJavaScript(told, {name, dtype, expected}, i) {
    assert.deepEqual(told.shape, expected.shape, name);
    assert.equal(told.type, ARRAYS[dtype], name);
    assert.equal(
        told.bytes,
        dtype === 'f16'
            ? wide[i]
            : (dtype === 'bf16' ? widened(expected.bytes) : expected.bytes).toString('hex'),
        name,
    );
}

test('the code for JavaScript gives the bits of the npy body in node', () => {
    shown.forEach((each, i) => {
        const said = execFileSync(process.execPath, ['--input-type=module'], {
            input: `${each.JavaScript}\nconsole.log(JSON.stringify${TELL});`,
            env: {PATH: process.env.PATH},
        });
        checkJavaScript(JSON.parse(said), each, i);
    });
});

pageTest(
    'the code for JavaScript gives the bits of the npy body in a page of another origin',
    {},
    async (page) => {
        await page.goto(elsewhere());
        for (const [i, each] of shown.entries()) {
            const told = await page.evaluate(
                `(async () => {${each.JavaScript}\nreturn ${TELL};})()`,
            );
            checkJavaScript(told, each, i);
        }
    },
);

// ---- without a server ----

// the program posenc stands beside the server that is tested
const PROGRAM = dirname(resolve(process.env.TEST_PROGRAM ?? 'build/posenc'));
const ALONE = {...process.env, PATH: [PROGRAM, process.env.PATH].join(delimiter)};
// the package, as far as the code needs it: it answers as the server does
const PACKAGE = `const open = async () => ({fetch: (path) => fetch('${url}' + path)});`;

test('code of a site asks no server: it runs, and gives the bits of the npy body', async () => {
    const context = await newContext();
    await context.addInitScript(() => {
        globalThis.posencSite = true;
    });
    const page = await context.newPage();
    for (const [i, each] of CASES.entries()) {
        await open(page, each.page);
        await openPanel(page);
        const {command, npm, Python} = await codesOf(page, SITE_SNIPPETS);
        for (const code of [command, npm, Python]) assert.doesNotMatch(code, /https?:/);
        const expected = await expectedOf(each);
        const folder = mkdtempSync(join(tmpdir(), 'takeaway-'));
        try {
            execFileSync('bash', ['-ec', command], {cwd: folder, env: ALONE});
            const format = each.dtype === 'bf16' ? 'safetensors' : 'npy';
            assert.ok(
                readFileSync(join(folder, `table.${format}`)).equals(
                    (await body(each.query, format)).bytes,
                ),
                each.name,
            );
        } finally {
            rmSync(folder, {recursive: true});
        }
        const [table] = python([Python], ALONE);
        assert.equal(
            table.bytes,
            (each.dtype === 'bf16' ? widened(expected.bytes) : expected.bytes).toString('hex'),
            each.name,
        );
        assert.match(npm, /^import \{open\} from 'posenc';/);
        const said = execFileSync(process.execPath, ['--input-type=module'], {
            input: npm.replace(/^import .*/, PACKAGE) + `\nconsole.log(JSON.stringify${TELL});`,
            env: {PATH: process.env.PATH},
        });
        checkJavaScript(JSON.parse(said), {...each, expected}, i);
    }
    await context.close();
});

test('quotes in an address stay within their text', () => {
    const address =
        `${url}/v1/encodings/sinusoidal?length=4&dim=8` +
        `&layout=it's;"$(touch%20made)\\'&format=`;
    for (const {name, write} of SNIPPETS) {
        const code = write({dtype: 'f32', url: (format) => address + format});
        const [command, ...rest] = {
            curl: ['bash', '-n'],
            JavaScript: [process.execPath, '--check', '--input-type=module', '-'],
        }[name] ?? [PYTHON, '-c', 'import ast, sys; ast.parse(sys.stdin.read())'];
        if (name !== 'JavaScript') execFileSync(command, rest, {input: code});
        if (name === 'curl')
            assert.equal(
                execFileSync('bash', ['-c', code.replace('curl -fOJ', 'printf %s')], {
                    encoding: 'utf8',
                }),
                `${address}npy`,
            );
        if (name === 'JavaScript')
            assert.equal(
                new Function(`return ${/fetch\((.*)\);/.exec(code)[1]}`)(),
                `${address}raw`,
            );
        if (name === 'numpy' || name === 'torch')
            assert.equal(
                execFileSync(PYTHON, ['-c', `print(${/urlopen\((.*)\) as/.exec(code)[1]})`], {
                    encoding: 'utf8',
                }),
                `${address}npy\n`,
            );
    }
});

// ---- copying ----

pageTest(
    'code and permalink are copied and announced',
    {permissions: ['clipboard-read', 'clipboard-write']},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=6&dim=8');
        await openPanel(page);
        const clipboard = () => page.evaluate(() => navigator.clipboard.readText());
        for (const {name} of SNIPPETS) {
            await page.click(`#takeaway [role=group] button:text-is("${name}")`);
            await page.click('#takeaway button:text-is("Copy")');
            await page.waitForFunction(
                (text) => document.querySelector('#takeaway-news').textContent === text,
                `${name} code copied.`,
            );
            assert.equal(await clipboard(), await page.textContent('#takeaway pre'));
        }
        await page.focus('canvas.plot');
        await page.keyboard.press('+');
        await page.waitForFunction(() => location.search.includes('view.zoom'));
        await page.click('text=Copy permalink');
        await page.waitForFunction(
            () => document.querySelector('#takeaway-news').textContent === 'Permalink copied.',
        );
        assert.equal(await clipboard(), page.url());
        assert.equal(await page.getAttribute('#takeaway-news', 'role'), 'status');
    },
);

pageTest('without a clipboard the text is selected', {}, async (page) => {
    await page.addInitScript(() =>
        Object.defineProperty(navigator, 'clipboard', {value: undefined}),
    );
    await open(page, '?scheme=sinusoidal&length=6&dim=8');
    await openPanel(page);
    await page.click('#takeaway button:text-is("Copy")');
    await page.waitForFunction(() =>
        document.querySelector('#takeaway-news').textContent.includes('Ctrl+C'),
    );
    assert.equal(
        await page.evaluate(() => getSelection().toString().trim()),
        (await page.textContent('#takeaway pre')).trim(),
    );
});

// ---- files ----

const files = async (page, count = 6) => {
    await page.waitForFunction(
        (least) => document.querySelectorAll('.takeaway-files li').length > least,
        count - 1,
    );
    return page.locator('.takeaway-files a').allTextContents();
};

pageTest('files are those of the service, under its names', {}, async (page) => {
    const {formats} = await (await fetch(`${url}/v1/info`)).json();
    for (const [address, query, options, stem] of [
        [
            '?scheme=sinusoidal&length=40&dim=16&offset=3',
            'sinusoidal?length=40&dim=16&offset=3',
            {png: ['scale=16']},
            'sinusoidal_40x16_f32',
        ],
        [
            '?scheme=alibi&length=100&heads=4&mask=causal&view.slice=2',
            'alibi?length=100&heads=4&mask=causal&tensor=bias',
            {csv: ['slice=2'], png: ['slice=2', 'scale=10']},
            'alibi_bias_4x100x100_f32',
        ],
        [
            '?scheme=t5&length=9&heads=2&view.tensor=bucket',
            't5?length=9&heads=2&tensor=bucket',
            {png: ['colormap=viridis', 'scale=16']},
            't5_bucket_9x9_i32',
        ],
    ]) {
        await open(page, address);
        await openPanel(page);
        assert.deepEqual(
            await files(page),
            formats.map(({name}) => name),
        );
        for (const {name, extension} of formats) {
            const [download] = await Promise.all([
                page.waitForEvent('download'),
                page.click(`.takeaway-files a:text-is("${name}")`),
            ]);
            const chosen = options[name] ?? [];
            const reply = await fetch(
                `${url}/v1/encodings/${[query, ...chosen].join('&')}&format=${name}`,
            );
            const wanted = Buffer.from(await reply.arrayBuffer());
            assert.equal(reply.status, 200);
            assert.ok(readFileSync(await download.path()).equals(wanted), `${address} ${name}`);
            const file = download.suggestedFilename();
            assert.ok(file.startsWith(stem) && file.endsWith(`.${extension}`), file);
        }
    }
});

pageTest('a format that is refused says why', {expected: /status of 4\d\d/}, async (page) => {
    await open(page, '?scheme=sinusoidal&length=6&dim=8&dtype=bf16');
    await openPanel(page);
    assert.ok(!(await files(page)).includes('npy'));
    const {detail} = await (
        await fetch(`${url}/v1/encodings/sinusoidal?length=6&dim=8&dtype=bf16&format=npy`)
    ).json();
    assert.equal(await page.textContent('.takeaway-refused'), `no npy: ${detail}`);
    await open(page, '?scheme=sinusoidal&length=1000000&dim=512');
    await openPanel(page);
    const offered = await files(page);
    assert.ok(offered.includes('npy') && !offered.includes('png'), String(offered));
    assert.match(
        await page.locator('.takeaway-refused').last().textContent(),
        /^no png: .*pixels/,
    );
});

pageTest(
    'both settings can be taken away, also on narrow screens',
    {viewport: {width: 400, height: 900}},
    async (page) => {
        await open(
            page,
            '?scheme=sinusoidal&length=64&dim=16&right.scheme=rope&right.length=64' +
                '&right.dim=16',
        );
        await openPanel(page);
        await files(page, 12);
        const texts = await page.locator('#takeaway pre').allTextContents();
        assert.match(texts[0], /\/v1\/encodings\/sinusoidal\?length=64&dim=16&format=npy'/);
        assert.match(
            texts[1],
            /\/v1\/encodings\/rope\?length=64&dim=16&tensor=cos&format=npy'/,
        );
        assert.ok(
            await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth),
        );
        for (const width of [400, 1280]) {
            await page.setViewportSize({width, height: 900});
            await drawn(page);
            await files(page, 12);
            await screenshot(page, `takeaway-${width}`);
        }
        await page.click('#theme');
        await drawn(page);
        await screenshot(page, 'takeaway-other-theme');
    },
);

// ---- permalinks ----

// What can be seen: fields, buttons, drawings, and what lies under three places of the first
// one.
async function seen(page) {
    await page.mouse.move(0, 0);
    const state = await page.evaluate(() => ({
        fields: Object.fromEntries(
            [...document.querySelectorAll('#sides input, #sides select')]
                .filter((each) =>
                    each.closest('.more')
                        ? each.id &&
                          each.value !== '' &&
                          each.closest('section').checkVisibility()
                        : each.checkVisibility(),
                )
                .map((each, i) => [each.id || i, each.value]),
        ),
        tools: [...document.querySelectorAll('#tools input, #tools select')].map(
            (each) => each.value,
        ),
        pressed: [...document.querySelectorAll('[aria-pressed=true]')]
            .filter((each) => each.checkVisibility())
            .map((each) => each.textContent),
        drawn: document.querySelector('#view').dataset.drawn,
        labels: [...document.querySelectorAll('#view [aria-label]')].map((each) =>
            each.getAttribute('aria-label'),
        ),
        replies: [...document.querySelectorAll('#replies code')].map(
            (each) => each.textContent,
        ),
    }));
    state.under = [];
    const plot = page.locator('#view canvas.plot').first();
    if (await plot.count()) {
        for (const part of [0.29, 0.47, 0.81]) {
            const said = await pointAt(
                page,
                plot,
                ({width, height}) => [64 + part * (width - 72), 6 + part * (height - 40)],
                async () => {
                    const text = await readout(page);
                    assert.notEqual(text, '');
                    return text;
                },
            );
            state.under.push(said.replace(/ · wavelength.*/, ''));
        }
        await page.mouse.move(0, 0);
    }
    return state;
}

const STATES = [
    {what: 'the start', go: (page) => open(page)},
    {
        what: 'a scheme',
        go: (page) => chooseScheme(page, 'alibi'),
        shows: ({labels}) => assert.match(labels.join(), /bias: /),
    },
    {
        what: 'parameters',
        go: async (page) => {
            await openMore(page);
            await page.selectOption('#left-mask', 'causal');
        },
        shows: ({fields}) => assert.equal(fields['left-mask'], 'causal'),
    },
    {
        what: 'a slice',
        go: async (page) => {
            await page.fill('#tools input >> nth=0', '3');
            await page.keyboard.press('Tab');
        },
        shows: ({tools}) => assert.deepEqual(tools, ['bias', '3', '']),
    },
    {
        what: 'a mark',
        go: async (page) => {
            await page.fill('#tools input >> nth=1', '32');
            await page.keyboard.press('Tab');
        },
        shows: ({tools}) => assert.deepEqual(tools, ['bias', '3', '32']),
    },
    {
        what: 'two settings',
        go: async (page) => {
            await page.click('#compare');
            await drawn(page);
            await openMore(page, 'right');
            await page.selectOption('#right-mask', 'symmetric');
        },
        shows: ({labels}) => assert.match(labels.join(), /A − B/),
    },
    {
        what: 'a place within',
        go: async (page) => {
            await page.focus('canvas.plot');
            for (const key of ['+', '+']) await page.keyboard.press(key);
            await page.waitForFunction(() => /view\.zoom=2\.56,/.test(location.search));
        },
        within: true,
    },
    {
        what: 'another tensor',
        go: (page) => page.selectOption('#tools select', 'slopes'),
        shows: ({tools}) => assert.equal(tools[0], 'slopes'),
    },
    {
        what: 'another view',
        go: async (page) => {
            await open(page, '?scheme=sinusoidal&length=20&dim=8');
            await page.click('#tabs button:text-is("Similarity")');
            await page.waitForSelector('#view canvas.plot');
        },
        shows: (state) => assert.equal(state.drawn, 'similarity'),
    },
];

pageTest(
    'permalinks restore every state in a fresh page, and back and forward lead through them',
    {},
    async (page) => {
        const entries = [];
        for (const {what, go, shows, within} of STATES) {
            await go(page);
            await drawn(page);
            const state = await seen(page);
            shows?.(state);
            if (entries.length > 0)
                assert.notDeepEqual(
                    state,
                    entries.at(-1).state,
                    `${what} changes what is seen`,
                );
            if (within) entries.pop(); // a place is no entry of its own
            entries.push({what, state, address: page.url()});
            const context = await newContext({viewport: {width: 1280, height: 900}});
            try {
                const fresh = await context.newPage();
                await fresh.goto(page.url());
                await drawn(fresh);
                if (await page.locator('#view canvas.plot').count())
                    await fresh.waitForSelector('#view canvas.plot');
                await eventually(async () => assert.deepEqual(await seen(fresh), state, what));
            } finally {
                await context.close();
            }
        }
        for (const direction of ['goBack', 'goForward']) {
            const way =
                direction === 'goBack' ? entries.slice(2, -2).reverse() : entries.slice(3, -1);
            if (direction === 'goBack') {
                await page.goBack();
                await page.goBack();
                await drawn(page);
            }
            for (const {what, state, address} of way) {
                for (let steps = 0; page.url() !== address; steps++) {
                    assert.ok(steps < 3, `${direction} to ${what}`);
                    await page[direction]();
                    await drawn(page);
                }
                await eventually(async () =>
                    assert.deepEqual(await seen(page), state, `${direction} to ${what}`),
                );
            }
        }
    },
);

// ---- other origins ----

pageTest(
    'a page of another origin fetches tables and their headers, shows pictures, and changes ' +
        'nothing',
    {expected: /CORS policy|ERR_FAILED/},
    async (page) => {
        await page.goto(elsewhere());
        const query = `${url}/v1/encodings/sinusoidal?length=12&dim=8`;
        const got = await page.evaluate(async (address) => {
            const json = await fetch(address);
            const document = await json.json();
            const raw = await fetch(`${address}&format=raw`, {headers: {Range: 'bytes=0-31'}});
            const names = [
                'Tensor-Shape',
                'Tensor-Dtype',
                'Tensor-Name',
                'Tensor-Byte-Order',
                'Content-Range',
                'ETag',
                'Cache-Status',
            ];
            return {
                rows: document.tensors[0].data,
                status: raw.status,
                headers: names.map((name) => raw.headers.get(name)),
                bytes: [...new Float32Array(await raw.arrayBuffer())],
            };
        }, query);
        assert.equal(got.status, 206);
        assert.deepEqual(got.headers.slice(0, 5), [
            '12, 8',
            'f32',
            'encoding',
            'little',
            'bytes 0-31/384',
        ]);
        assert.ok(got.headers.every(Boolean), String(got.headers));
        assert.deepEqual(got.bytes, got.rows[0].map(Math.fround));
        const picture = await page.evaluate(async (address) => {
            const image = document.createElement('img');
            image.src = `${address}&format=png&scale=3`;
            document.body.append(image);
            await image.decode();
            return [image.naturalWidth, image.naturalHeight];
        }, query);
        assert.deepEqual(picture, [24, 36]);
        const refused = await page.evaluate(
            (address) =>
                fetch(address, {method: 'PUT', body: 'x'}).then(
                    ({status}) => `answered ${status}`,
                    (error) => error.name,
                ),
            `${url}/v1/sets/mine`,
        );
        assert.equal(refused, 'TypeError');
        assert.equal((await (await fetch(`${url}/v1/info`)).json()).store.sets, 0);
    },
);

// ---- speed ----

pageTest('the time from a slider’s event to the drawn frame is told', {}, async (page, t) => {
    await open(page, '?scheme=sinusoidal&length=512&dim=128&base=10000');
    await page.evaluate(() => {
        window.times = [];
        addEventListener(
            'keydown',
            () => {
                const start = performance.now();
                const observer = new MutationObserver(() => {
                    observer.disconnect();
                    requestAnimationFrame(() => {
                        // in this frame; a task after it comes when it is drawn
                        const {port1, port2} = new MessageChannel();
                        port1.onmessage = () => window.times.push(performance.now() - start);
                        port2.postMessage(null);
                    });
                });
                observer.observe(document.querySelector('#view'), {childList: true});
            },
            true,
        );
    });
    await page.focus('#left-base ~ input[type=range]');
    const median = (values) => [...values].sort((a, b) => a - b)[values.length >> 1];
    for (const [key, what] of [
        ['ArrowRight', 'computed anew'],
        ['ArrowLeft', 'cached'],
    ]) {
        await page.evaluate(() => {
            window.times.length = 0;
        });
        for (let i = 1; i <= 9; i++) {
            await page.keyboard.press(key);
            await page.waitForFunction((count) => window.times.length === count, i);
        }
        const times = await page.evaluate(() => window.times);
        assert.equal(times.length, 9);
        t.diagnostic(
            `sinusoidal 512x128, ${what}: redrawn ${median(times).toFixed(1)} ms after the ` +
                `slider's event (median of 9; ${Math.min(...times).toFixed(1)} to ` +
                `${Math.max(...times).toFixed(1)})`,
        );
    }
});

// ---- the menu ----

pageTest(
    'the open menu of examples lies on the page',
    {viewport: {width: 400, height: 900}},
    async (page) => {
        await open(page);
        for (const width of [400, 1280]) {
            await page.setViewportSize({width, height: 900});
            if (await page.isHidden('#examples')) await page.click('#examples-button');
            const box = await page.locator('#examples ul').boundingBox();
            assert.ok(
                box.x >= 0 && box.x + box.width <= width,
                `${JSON.stringify(box)} in ${width}`,
            );
            for (const link of await page.locator('#examples a').all()) {
                const inner = await link.boundingBox();
                assert.ok(inner.x >= box.x && inner.x + inner.width <= box.x + box.width);
            }
            await screenshot(page, `examples-${width}`);
            await escape(page);
        }
    },
);
