/* module_bridge.mjs MODULE [SETTINGS]: posenc.wasm behind pipes. Each request is two blocks,
 * JSON and the body, each after its length in four bytes; each answer likewise. The engine is
 * asked as a client on a connection asks a server, without what fetch adds and takes away.
 * SETTINGS is JSON. */
import {readFile} from 'node:fs/promises';
import {readSync, writeSync} from 'node:fs';
import {dirname, join} from 'node:path';
import {pathToFileURL} from 'node:url';

const [folder, settings = '{}'] = [dirname(process.argv[2]), process.argv[3]];
const {Engine} = await import(pathToFileURL(join(folder, 'engine.js')));
const module = await WebAssembly.compile(await readFile(join(folder, 'posenc.wasm')));
let engine = await Engine.start(module, JSON.parse(settings));

function take(size) {
    const block = Buffer.alloc(size);
    for (let at = 0; at < size;) {
        const got = readSync(0, block, at, size - at);
        if (got === 0) process.exit(0);
        at += got;
    }
    return block;
}

function give(block) {
    const size = Buffer.alloc(4);
    size.writeUInt32LE(block.length);
    for (const part of [size, block])
        for (let at = 0; at < part.length;) at += writeSync(1, part, at);
}

function whole(reply) {
    const parts = [reply.body ?? new Uint8Array()];
    if (reply.id) for (let part; (part = engine.read(reply.id));) parts.push(part);
    return Buffer.concat(parts);
}

async function answer(request) {
    try {
        const reply = engine.ask(request);
        return [{status: reply.status, headers: reply.headers}, whole(reply)];
    } catch (error) {
        if (error instanceof WebAssembly.RuntimeError) engine = await Engine.start(module);
        return [{failure: String(error.stack)}, Buffer.alloc(0)];
    }
}

for (;;) {
    const head = JSON.parse(take(take(4).readUInt32LE()).toString('utf8'));
    const size = take(4).readUInt32LE();
    const body = size > 0 ? take(size) : null;
    const [reply, bytes] = await answer({...head, body});
    give(Buffer.from(JSON.stringify(reply)));
    give(bytes);
}
