/* What a program that imports posenc.js relies on. TEST_MODULE is posenc.js. */
import assert from 'node:assert/strict';
import {readFile} from 'node:fs/promises';
import {pathToFileURL} from 'node:url';
import {test} from 'node:test';

const {open} = await import(pathToFileURL(process.env.TEST_MODULE));
const ROPE = '/v1/encodings/rope?length=8&dim=4';
// more multiply-adds than a test waits for, in one computation
const LONG = '/v1/similarity/floater?length=3000&dim=64&metric=l2';

async function withModule(options, use) {
    const posenc = await open(options);
    try {
        return await use(posenc);
    } finally {
        posenc.close();
    }
}

for (const worker of [true, false]) {
    const where = worker ? 'in a worker' : 'in this thread';

    test(`gives standard responses ${where}`, () =>
        withModule({worker}, async (posenc) => {
            const response = await posenc.fetch(ROPE);
            assert.ok(response instanceof Response);
            assert.equal(response.status, 200);
            assert.equal(response.headers.get('Content-Type'), 'application/json');
            const table = await response.json();
            assert.deepEqual(
                table.tensors.map(({name, shape}) => [name, shape]),
                [
                    ['cos', [8, 2]],
                    ['sin', [8, 2]],
                    ['inv_freq', [2]],
                ],
            );
            assert.equal(Math.fround(table.tensors[1].data[1][0]), Math.fround(Math.sin(1)));
        }));

    test(`answers HEAD, ranges, conditions and problems ${where}`, () =>
        withModule({worker}, async (posenc) => {
            const target = `${ROPE}&format=npy&tensor=cos`;
            const whole = await posenc.fetch(target);
            const bytes = new Uint8Array(await whole.arrayBuffer());
            assert.equal(whole.headers.get('Content-Length'), String(bytes.length));
            const head = await posenc.fetch(target, {method: 'HEAD'});
            assert.equal(head.headers.get('Content-Length'), String(bytes.length));
            assert.equal((await head.arrayBuffer()).byteLength, 0);
            const part = await posenc.fetch(target, {headers: {'Range': 'bytes=8-15'}});
            assert.equal(part.status, 206);
            assert.deepEqual(new Uint8Array(await part.arrayBuffer()), bytes.slice(8, 16));
            const tag = whole.headers.get('ETag');
            const same = await posenc.fetch(target, {headers: {'If-None-Match': tag}});
            assert.equal(same.status, 304);
            const wrong = await posenc.fetch('/v1/encodings/rope?lenght=8&dim=4');
            assert.equal(wrong.headers.get('Content-Type'), 'application/problem+json');
            const problem = await wrong.json();
            assert.equal(problem.status, 400);
            assert.equal(problem.errors[0].did_you_mean, 'length');
        }));

    test(`takes bodies of every kind ${where}`, () =>
        withModule({worker}, async (posenc) => {
            const npy = await (await posenc.fetch(`${ROPE}&format=npy&tensor=cos`)).blob();
            const headers = {'Content-Type': 'application/x-npy'};
            for (const body of [npy, await npy.arrayBuffer(), npy.stream()]) {
                const init = {method: 'POST', body, headers, duplex: 'half'};
                const reply = await posenc.fetch('/v1/identify', init);
                assert.equal((await reply.json()).status, 'exact');
            }
            const body = JSON.stringify({length: 8, dim: 4});
            const type = {'Content-Type': 'application/json'};
            const request = new Request(`http://localhost${ROPE.split('?')[0]}`, {
                method: 'POST',
                body,
                headers: type,
            });
            assert.equal((await posenc.fetch(request)).status, 200);
        }));

    test(`keeps sets, also in the next instance ${where}`, () =>
        withModule({worker, idleBytes: 1}, async (posenc) => {
            const head = '{"table":{"dtype":"F32","shape":[2,1],"data_offsets":[0,8]}}';
            const size = new Uint8Array(new BigUint64Array([BigInt(head.length)]).buffer);
            const body = new Blob([size, head, new Float32Array([3, 4])]);
            const put = await posenc.fetch('/v1/sets/mine', {method: 'PUT', body});
            assert.equal(put.status, 201);
            for (const expected of [1, 1]) {
                const {sets} = (await (await posenc.fetch('/v1/info')).json()).store;
                assert.equal(sets, expected);
            }
            await posenc.fetch('/v1/sets/mine', {method: 'DELETE'});
            assert.equal((await (await posenc.fetch('/v1/info')).json()).store.sets, 0);
        }));
}

test('streams what is too large to hold, and lets a reader leave', () =>
    withModule({limits: {'cache-bytes': 1 << 20}}, async (posenc) => {
        const target = '/v1/encodings/sinusoidal?length=50000&dim=64&format=raw';
        let size = 0;
        for await (const part of (await posenc.fetch(target)).body) size += part.length;
        assert.equal(size, 50000 * 64 * 4);
        const left = await posenc.fetch(target.replace('50000', '50000000'));
        const reader = left.body.getReader();
        await reader.read();
        await reader.cancel();
        assert.equal((await posenc.fetch(ROPE)).status, 200);
    }));

test('a signal ends a computation, and the next request is answered', () =>
    withModule({}, async (posenc) => {
        const controller = new AbortController();
        const asked = posenc.fetch(LONG, {signal: controller.signal});
        const other = posenc.fetch(ROPE);
        setTimeout(() => controller.abort(), 20);
        await assert.rejects(asked, {name: 'AbortError'});
        assert.equal((await other).status, 200);
        const early = posenc.fetch(ROPE, {signal: AbortSignal.abort()});
        await assert.rejects(early, {name: 'AbortError'});
    }));

test('says what it is, and has limits of its own', () =>
    withModule({limits: {'max-elements': 100}}, async (posenc) => {
        const info = await (await posenc.fetch('/v1/info')).json();
        assert.equal(info.form, 'module');
        assert.equal(info.store.kind, 'memory');
        assert.equal(info.limits['max-elements'].value, 100);
        assert.equal(info.limits['max-connections'], undefined);
        const large = await posenc.fetch('/v1/encodings/rope?length=100&dim=4');
        assert.equal(large.status, 422);
    }));

test('wrong settings are refused by name', async () => {
    await assert.rejects(open({limits: {'port': 1}}), /no setting port/);
    await assert.rejects(open({limits: {'max-elements': 0}}), /max-elements/);
});

/** The module with memory of at most so many pages of 64 KiB: another section 5. */
function withPages(wasm, most) {
    const number = (value) => [(value & 127) | 128, ((value >> 7) & 127) | 128, value >> 14];
    const read = (at) => {
        let value = 0;
        for (let shift = 0; ; shift += 7) {
            const byte = wasm[at++];
            value |= (byte & 127) << shift;
            if (byte < 128) return [value, at];
        }
    };
    for (let at = 8; at < wasm.length;) {
        const [size, start] = read(at + 1);
        if (wasm[at] === 5) {
            const [least] = read(start + 2);
            const section = [5, 8, 1, 1, ...number(least), ...number(most)];
            return Buffer.concat([
                wasm.subarray(0, at),
                Buffer.from(section),
                wasm.subarray(start + size),
            ]);
        }
        at = start + size;
    }
    throw new Error('no section 5');
}

test('where memory runs out, in whatever it computes, it answers 503 and goes on', async () => {
    const wasm = await readFile(process.env.TEST_MODULE.replace('posenc.js', 'posenc.wasm'));
    const refused = [];
    for (let mebibytes = 8; mebibytes < 40; mebibytes += 1)
        await withModule({wasm: withPages(wasm, 16 * mebibytes)}, async (posenc) => {
            const target = '/v1/encodings/sinusoidal?length=20000&dim=128&format=png&scale=2';
            const drawn = await posenc.fetch(target);
            if (drawn.status !== 200) {
                refused.push(drawn.status);
                assert.equal((await drawn.json()).status, 503);
            }
            assert.equal((await posenc.fetch(ROPE)).status, 200);
        });
    assert.ok(refused.length > 4, refused);
    assert.ok(refused.every((status) => status === 503));
});
