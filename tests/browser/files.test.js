// Files that are dropped: the picture is the file's, the file is named, old results go; what is
// no such file is told what to do; sections do not pile up, and Escape closes the last one.
import assert from 'node:assert/strict';
import {test} from 'node:test';
import {adviceOn} from '../../server/visualiser/files.js';
import {
    assertAccessible,
    drawn,
    escape,
    eventually,
    open,
    pageTest,
    screenshot,
    url,
} from './harness.js';

const CONFIG = JSON.stringify({
    model_type: 'gemma3_text',
    head_dim: 8,
    hidden_size: 64,
    num_attention_heads: 4,
    num_hidden_layers: 7,
    max_position_embeddings: 96,
    rope_theta: 1000000,
    rope_local_base_freq: 10000,
});
const SECTIONS = ['examples', 'model', 'identify'];

const drop = (page, name, content) =>
    page.evaluate(
        ([title, text]) => {
            const dataTransfer = new DataTransfer();
            const bytes = Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
            dataTransfer.items.add(new File([bytes], title));
            document.body.dispatchEvent(
                new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer}),
            );
        },
        [name, Buffer.from(content).toString('base64')],
    );
const shownSections = (page) =>
    page.evaluate((ids) => ids.filter((id) => !document.getElementById(id).hidden), SECTIONS);
const begin = (page) => open(page, '?scheme=sinusoidal&length=16&dim=8');
const shows = (page, scheme, parameters) =>
    eventually(() => {
        const given = new URL(page.url()).searchParams;
        assert.equal(given.get('scheme'), scheme);
        for (const [name, value] of Object.entries(parameters))
            assert.equal(given.get(name), value, name);
    });

async function tableOf(target) {
    const reply = await fetch(`${url}${target}&format=npy`);
    return Buffer.from(await reply.arrayBuffer());
}

// The head of a GGUF file with a few keys, of the types uint32 (4), float32 (6) and text (8).
function ggufOf(entries) {
    const long = (value) => {
        const bytes = Buffer.alloc(8);
        bytes.writeBigUInt64LE(BigInt(value));
        return bytes;
    };
    const word = (value) => {
        const bytes = Buffer.alloc(4);
        bytes.writeUInt32LE(value);
        return bytes;
    };
    const text = (value) => Buffer.concat([long(value.length), Buffer.from(value)]);
    const pairs = Object.entries(entries).map(([key, value]) =>
        Buffer.concat([
            text(key),
            typeof value === 'string' ? word(8) : word(4),
            typeof value === 'string' ? text(value) : word(value),
        ]),
    );
    const head = [Buffer.from('GGUF'), word(3), long(0), long(pairs.length)];
    return Buffer.concat([...head, ...pairs, Buffer.alloc(64)]);
}

test('each kind of file is told what to do', () => {
    assert.match(adviceOn({name: 'a.pt'}), /torch\.load\("a\.pt"/);
    assert.match(adviceOn({name: 'pytorch_model.bin'}), /safetensors/);
    assert.match(adviceOn({name: 'rows.txt'}), /numpy\.loadtxt\("rows\.txt"\)/);
    assert.match(adviceOn({name: 'picture.jpg'}), /config\.json/);
    for (const name of ['a.pt', 'b.txt', 'c.npz', 'd']) assert.match(adviceOn({name}), /\.$/);
});

pageTest('after a config.json the picture is its first part', {}, async (page) => {
    await begin(page);
    await drop(page, 'config.json', CONFIG);
    await shows(page, 'rope', {length: '96', dim: '8', 'rope_theta': '1000000'});
    await drawn(page);
    assert.match(await page.innerText('.model-summary'), /^config\.json/);
    assert.deepEqual(await shownSections(page), ['model']);
});

pageTest('after a table the picture is what made it', {}, async (page) => {
    await begin(page);
    await drop(page, 'config.json', CONFIG);
    await page.waitForSelector('#model table');
    await drop(
        page,
        'sin.npy',
        await tableOf('/v1/encodings/rope?length=40&dim=16&tensor=sin'),
    );
    await shows(page, 'rope', {length: '40', dim: '16', 'view.tensor': 'sin'});
    await drawn(page);
    assert.match(await page.innerText('.identify-summary'), /^sin\.npy/);
    assert.deepEqual(await shownSections(page), ['identify']);
    await page.click('#model-button');
    assert.equal(await page.innerText('#model-result'), '', 'the old plan has gone');
});

pageTest('the head of a GGUF file is enough for its plan', {}, async (page) => {
    await begin(page);
    await drop(
        page,
        'model.gguf',
        ggufOf({
            'general.architecture': 'llama',
            'llama.context_length': 64,
            'llama.embedding_length': 32,
            'llama.block_count': 2,
            'llama.attention.head_count': 4,
            'llama.rope.dimension_count': 8,
        }),
    );
    await page.waitForSelector('#model table');
    assert.match(await page.innerText('.model-summary'), /^model\.gguf/);
    await shows(page, 'rope', {dim: '8'});
});

pageTest('a file of another kind is told what to do, in both themes', {}, async (page) => {
    await begin(page);
    await drop(
        page,
        'cos.npy',
        await tableOf('/v1/encodings/rope?length=40&dim=16&tensor=cos'),
    );
    await page.waitForSelector('#identify-pictures canvas');
    for (const [name, colorScheme] of [
        ['weights.pt', 'light'],
        ['rows.txt', 'dark'],
    ]) {
        await page.emulateMedia({colorScheme});
        await drop(page, name, 'x');
        await page.waitForSelector(`#identify-result:has-text("${name}")`);
        assert.equal(await page.locator('#identify-pictures canvas').count(), 0);
        await assertAccessible(page);
    }
});

pageTest('sections do not pile up, and Escape closes the last one', {}, async (page) => {
    await open(page, '?tour=2');
    for (const id of SECTIONS) {
        await page.click(`#${id}-button`);
        assert.deepEqual(await shownSections(page), [id]);
    }
    await page.focus('canvas.plot');
    await escape(page);
    assert.deepEqual(await shownSections(page), []);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'identify-button');
    assert.equal(await page.isVisible('#tour'), true);
    await escape(page);
    assert.equal(await page.isVisible('#tour'), false);
    await page.click('#model-button');
    await page.click('#tour-link');
    await page.waitForSelector('.tour-count');
    assert.deepEqual(await shownSections(page), [], 'the tour needs the room');
});

pageTest(
    'the plan is stacked on a phone',
    {viewport: {width: 360, height: 740}},
    async (page) => {
        await begin(page);
        await drop(page, 'config.json', CONFIG);
        await page.waitForSelector('#model table');
        const inside = await page.evaluate(() => {
            const frame = document.querySelector('.model-frame');
            const row = document.querySelector('#model tbody tr');
            const tops = [...row.children].map((each) => each.getBoundingClientRect().top);
            return [frame.scrollWidth - frame.clientWidth, tops];
        });
        assert.ok(inside[0] <= 0, `${inside[0]} pixels too wide`);
        assert.deepEqual(
            inside[1],
            [...inside[1]].sort((a, b) => a - b),
        );
        assert.ok(new Set(inside[1]).size === inside[1].length, 'each below the last one');
        await assertAccessible(page);
        await screenshot(page, 'model-stacked-360');
    },
);

pageTest('tables come as text, too, and a config does not', {}, async (page) => {
    await begin(page);
    const target = '/v1/encodings/rope?length=40&dim=16&tensor=sin&format=';
    const [csv, json, config] = [
        await (await fetch(url + target + 'csv')).text(),
        await (await fetch(url + target + 'json')).text(),
        CONFIG,
    ];
    const rows = JSON.stringify(JSON.parse(json).tensors[0].data);
    for (const [name, text, section, told] of [
        ['sin.csv', csv, 'identify', /sin\.csv Exact.*sin of rope/],
        ['config.json', config, 'model', /config\.json Gemma/],
        ['answer.json', json, 'identify', /answer\.json Exact.*sin of rope/],
        ['rows.json', rows, 'identify', /rows\.json .*sin of rope/],
    ]) {
        await drop(page, name, text);
        await eventually(async () =>
            assert.match(await page.innerText(`#${section}-result`), told),
        );
        assert.deepEqual(await shownSections(page), [section], name);
    }
    await page.setInputFiles('#model-file', {
        name: 'rows.json',
        mimeType: 'application/json',
        buffer: Buffer.from(rows),
    });
    await eventually(async () =>
        assert.match(await page.innerText('#model-result'), /no plan of a model/),
    );
});
