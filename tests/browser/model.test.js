// The plan of a model: a config.json that is opened or dropped, or a name; its tensors lead to
// their pictures.
import assert from 'node:assert/strict';
import {mkdtemp, writeFile} from 'node:fs/promises';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {test} from 'node:test';
import {rangesText} from '../../server/visualiser/lists.js';
import {addressOfTensor} from '../../server/visualiser/model.js';
import {assertAccessible, drawn, escape, open, pageTest, screenshot} from './harness.js';

const GEMMA = {
    model_type: 'gemma3_text',
    head_dim: 8,
    hidden_size: 64,
    num_attention_heads: 4,
    num_hidden_layers: 7,
    max_position_embeddings: 96,
    rope_theta: 1000000,
    rope_local_base_freq: 10000,
    rope_scaling: {rope_type: 'linear', factor: 8},
    rope_wheel: 3,
    layer_typs: [],
};

async function fileOf(document) {
    const path = join(await mkdtemp(join(tmpdir(), 'config-')), 'config.json');
    await writeFile(path, typeof document === 'string' ? document : JSON.stringify(document));
    return path;
}

const begin = async (page, search = '?scheme=sinusoidal&length=16&dim=8') => {
    await open(page, search);
    await page.click('#model-button');
};
const rows = (page) =>
    page.$$eval('#model tbody th', (all) => all.map((each) => each.textContent));

test('layers are told as ranges', () => {
    assert.equal(rangesText([0, 1, 2, 4, 6, 7]), '0–2, 4, 6–7');
    assert.equal(rangesText([]), '');
});

test('the address of a tensor is its request by the names of the page', () => {
    assert.equal(
        addressOfTensor(
            {name: 'text', request: '/v1/encodings/rope?length=4&dim=8&tensor=cos'},
            'text.inv_freq',
        ),
        '?scheme=rope&length=4&dim=8&view.tensor=inv_freq',
    );
});

pageTest(
    'a config.json becomes a table of its tensors, and a tensor a picture',
    {viewport: {width: 1280, height: 900}},
    async (page) => {
        await begin(page);
        await page.setInputFiles('#model-file', await fileOf(GEMMA));
        await page.waitForSelector('#model table');
        assert.deepEqual(await rows(page), ['text.full_attention', 'text.sliding_attention']);
        const words = await page.innerText('#model');
        assert.match(words, /linear by 8/);
        assert.match(words, /0–4, 6/);
        assert.match(
            words,
            /without effect: rope_wheel; layer_typs: did you mean layer_types\?\n/,
        );
        await assertAccessible(page);
        await screenshot(page, 'model-1280');
        await page.click('#model a:has-text("text.full_attention.sin")');
        await drawn(page);
        const shown = new URL(page.url()).searchParams;
        assert.equal(shown.get('scheme'), 'rope');
        assert.equal(shown.get('view.tensor'), 'sin');
        assert.equal(shown.get('factor'), '8');
        assert.equal(shown.get('rope_theta'), '1000000');
        assert.equal(
            await page.isVisible('#model table'),
            true,
            'the plan stays for the next tensor',
        );
    },
);

pageTest(
    'a file that is dropped is opened, and what is wrong is told by its path',
    {expected: /status of 4(00|22)/},
    async (page) => {
        await open(page, '?scheme=sinusoidal&length=16&dim=8');
        const drop = (text) =>
            page.evaluate((content) => {
                const dataTransfer = new DataTransfer();
                dataTransfer.items.add(
                    new File([content], 'config.json', {type: 'application/json'}),
                );
                document.body.dispatchEvent(
                    new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer}),
                );
            }, text);
        await drop(JSON.stringify({...GEMMA, num_hidden_layers: 1}));
        await page.waitForSelector('#model table');
        assert.deepEqual(await rows(page), ['text.sliding_attention']);
        await drop(
            JSON.stringify({
                ...GEMMA,
                head_dim: undefined,
                num_attention_heads: 7,
                model_type: 'llama',
            }),
        );
        await page.waitForSelector('#model .error');
        assert.match(await page.innerText('#model-result'), /num_attention_heads|head_dim/);
        await drop('{');
        await page.waitForFunction(() =>
            /JSON object/.test(document.querySelector('#model-result').innerText),
        );
    },
);

pageTest('well-known models are a choice away; Escape closes the plan', {}, async (page) => {
    await begin(page);
    await page.waitForFunction(
        () => document.querySelectorAll('#model-name option').length > 40,
    );
    await page.selectOption('#model-name', 'llama-3.1-8b');
    await page.waitForSelector('#model table');
    assert.match(await page.innerText('.model-summary'), /Llama/);
    assert.equal(
        await page.getAttribute('#model a:has-text("safetensors")', 'href'),
        '/v1/models/llama-3.1-8b?format=safetensors',
    );
    await page.focus('#model-name');
    await escape(page);
    assert.equal(await page.isVisible('#model'), false);
    assert.equal(await page.evaluate(() => document.activeElement.id), 'model-button');
});

pageTest('the plan fits a phone', {viewport: {width: 360, height: 740}}, async (page) => {
    await begin(page);
    await page.selectOption('#model-name', 'gemma-3-27b');
    await page.waitForSelector('#model table');
    assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), 360);
    await screenshot(page, 'model-360');
});

const LLAMA = {
    model_type: 'llama',
    hidden_size: 4096,
    num_attention_heads: 32,
    max_position_embeddings: 4096,
};

pageTest('a config is pasted, anywhere or into the field', {}, async (page) => {
    await open(page);
    await page.click('#model-button');
    await page.fill('#model-text', JSON.stringify(LLAMA));
    await page.waitForFunction(() => location.search.includes('dim=128'));
    await drawn(page);
    assert.match(await page.innerText('.model-summary'), /^the pasted config Llama/);
    assert.match(page.url(), /view\.mark=4096/, 'the training length is that of the config');
    await page.evaluate(
        (text) => {
            const data = new DataTransfer();
            data.setData('text', text);
            document.body.dispatchEvent(
                new ClipboardEvent('paste', {clipboardData: data, bubbles: true}),
            );
        },
        JSON.stringify({...LLAMA, num_attention_heads: 64}),
    );
    await page.waitForFunction(() => location.search.includes('dim=64'));
    await drawn(page);
});

pageTest('two models are compared, and shown beside each other', {}, async (page) => {
    await open(page);
    await page.click('#model-button');
    await page.waitForFunction(
        () => document.querySelectorAll('#model-name option').length > 9,
    );
    await page.selectOption('#model-name', 'llama-3-8b');
    await page.selectOption('#model-other', 'llama-3.1-8b');
    await page.waitForSelector('.model-verdict');
    assert.equal(await page.innerText('.model-verdict'), 'llama-3-8b and llama-3.1-8b differ:');
    assert.match(await page.innerText('.model-compared'), /rope type\s+absent\s+llama3/);
    await page.click('text=Show both beside each other');
    await page.waitForFunction(() => location.search.includes('right.rope_type=llama3'));
    await drawn(page);
    await page.check('#model-with');
    await page.fill(
        '#model-text',
        JSON.stringify({...LLAMA, max_position_embeddings: 8192, rope_theta: 5e5}),
    );
    await page.waitForFunction(() =>
        /pasted/.test(document.querySelector('.model-verdict')?.textContent),
    );
});

pageTest('a model’s wavelengths before and after its scaling', {}, async (page) => {
    await open(page);
    await page.click('#model-button');
    await page.waitForFunction(
        () => document.querySelectorAll('#model-name option').length > 9,
    );
    await page.selectOption('#model-name', 'deepseek-v3');
    await page.click('text=Its wavelengths before and after the scaling');
    await drawn(page);
    await page.waitForSelector('.spectrum-words');
    const [before, after] = await page.$$eval('.spectrum-words', (all) =>
        all.map(({textContent}) => textContent),
    );
    assert.match(
        before,
        /^A: 9 of 32 columns have wavelengths above the training length of 4096/,
    );
    assert.match(after, /^B: 13 of 32 columns/);
});

pageTest('a trained table is shown from a file that has it', {}, async (page) => {
    await open(page);
    await page.click('#model-button');
    await page.waitForFunction(
        () => document.querySelectorAll('#model-name option').length > 9,
    );
    await page.selectOption('#model-name', 'bert-base');
    await page.waitForSelector('.model-trained');
    assert.doesNotMatch(await page.innerText('#model'), /Upload|set=/);
    const elements = 512 * 768;
    const header = Buffer.from(
        JSON.stringify({
            word: {dtype: 'F32', shape: [4], data_offsets: [0, 16]},
            position: {dtype: 'F32', shape: [512, 768], data_offsets: [16, 16 + 4 * elements]},
        }),
    );
    const size = Buffer.alloc(8);
    size.writeBigUInt64LE(BigInt(header.length));
    await page.setInputFiles('.model-trained input', {
        name: 'model.safetensors',
        mimeType: 'application/octet-stream',
        buffer: Buffer.concat([size, header, Buffer.alloc(16 + 4 * elements, 1)]),
    });
    await page.waitForFunction(
        () => document.querySelector('#identify-tensor').value === 'position',
    );
    await page.waitForSelector('#identify-result p');
});

pageTest(
    'what is left out is told once, no scaling of what has none, and no old model is compared',
    {expected: /status of 422/},
    async (page) => {
        await begin(page);
        const paste = async (config, told) => {
            await page.fill('#model-text', JSON.stringify(config));
            await page.waitForFunction(
                (text) => document.querySelector('#model-result').innerText.includes(text),
                told,
            );
            const words = await page.innerText('#model-result');
            assert.doesNotMatch(words, /Upload|set=|before and after/);
            return words;
        };
        await paste(
            {model_type: 't5'},
            'Left out: encoder.bias, decoder.bias, whose numbers are trained: ' +
                'they are in the checkpoint.',
        );
        await paste({model_type: 'xlnet'}, 'Left out: text.u, text.v, text.relative, whose');
        await paste({model_type: 'lama'}, 'did you mean "llama"?');
        await page.check('#model-with');
        assert.doesNotMatch(await paste({model_type: 'gpt2'}, 'GPT-2'), /differ/);
    },
);
