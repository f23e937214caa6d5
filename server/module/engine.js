/* One instance of posenc.wasm: requests in, replies out, one computation at a time. It runs in
 * a page, in a worker and in Node; module.h is the manual of what it calls. */

const FIRST_BYTES = 256 * 1024; // of a body, that come with its head
const NOT_A_FILE = 8; // WASI's errno badf

/** A header's text as bytes, one for each character, as HTTP has them. */
function bytesOf(text) {
    return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function join(parts) {
    if (parts.length === 1) return parts[0];
    const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    let at = 0;
    for (const part of parts) {
        whole.set(part, at);
        at += part.length;
    }
    return whole;
}

export class Engine {
    #calls;
    #exchanges = new Map(); // {id: pointer}
    #nextId = 1;
    #said = ''; // on standard error

    /** `module` is compiled; `settings` are {"max-elements": 1000000, …}; `isUnwanted` is asked
     * every few milliseconds whether nobody waits for what is computed. */
    static async start(module, settings = {}, isUnwanted = () => false) {
        const engine = new Engine();
        const imports = {
            env: {posenc_is_unwanted: () => (isUnwanted() ? 1 : 0)},
            wasi_snapshot_preview1: engine.#system(),
        };
        const instance = await WebAssembly.instantiate(module, imports);
        engine.#calls = instance.exports;
        engine.#calls._initialize();
        const lines = Object.entries(settings).map(([name, value]) => `--${name}=${value}\0`);
        if (!engine.#calls.posenc_start(engine.#put(bytesOf(lines.join('') + '\0'))))
            throw new RangeError(engine.#said.trim());
        return engine;
    }

    /** The little of an operating system that is left: clocks, random bits, standard error. */
    #system() {
        const view = () => new DataView(this.#calls.memory.buffer);
        const write = (_file, vectors, count, written) => {
            let size = 0;
            for (let i = 0; i < count; i++) {
                const start = view().getUint32(vectors + 8 * i, true);
                const length = view().getUint32(vectors + 8 * i + 4, true);
                this.#said += this.#text(start, length);
                size += length;
            }
            view().setUint32(written, size, true);
            return 0;
        };
        const now = (clock, _precision, time) => {
            const milliseconds = clock === 0 ? Date.now() : performance.now();
            view().setBigUint64(time, BigInt(Math.round(milliseconds * 1e6)), true);
            return 0;
        };
        const random = (start, size) => {
            const bytes = new Uint8Array(this.#calls.memory.buffer, start, size);
            if (globalThis.crypto) crypto.getRandomValues(bytes);
            else bytes.forEach((_, i) => (bytes[i] = 256 * Math.random())); // Node 18
            return 0;
        };
        const noVariables = (count, size) => {
            view().setUint32(count, 0, true);
            view().setUint32(size, 0, true);
            return 0;
        };
        return {
            environ_get: () => 0,
            environ_sizes_get: noVariables,
            clock_time_get: now,
            fd_close: () => NOT_A_FILE,
            fd_seek: () => NOT_A_FILE,
            fd_write: write,
            random_get: random,
            proc_exit: (status) => {
                throw new Error(`posenc.wasm has exited with ${status}: ${this.#said}`);
            },
        };
    }

    #put(bytes) {
        const start = this.#calls.posenc_allocate(bytes.length);
        if (!start) throw new RangeError('posenc.wasm has no memory for the request');
        new Uint8Array(this.#calls.memory.buffer, start, bytes.length).set(bytes);
        return start;
    }

    #text(start, size) {
        const bytes = new Uint8Array(this.#calls.memory.buffer, start, size);
        let text = '';
        for (const byte of bytes) text += String.fromCharCode(byte);
        return text;
    }

    #textAt(start) {
        const bytes = new Uint8Array(this.#calls.memory.buffer);
        return this.#text(start, bytes.indexOf(0, start) - start);
    }

    /** The memory of the instance in bytes. It never shrinks. */
    get bytes() {
        return this.#calls.memory.buffer.byteLength;
    }

    /** Answer a request: {method, target, headers: [[name, value], …], body: bytes or null}.
     * With null the answer is that of a service which has no memory. The reply is {status,
     * headers, body, id}: without `id` the body is whole, null if there is none; else it is
     * the beginning, and `read` gives the rest. */
    ask(request) {
        const calls = this.#calls;
        let pointer;
        if (request) {
            const {method, target, headers, body} = request;
            const head = [method, target, ...headers.flat(), ''].map((text) => `${text}\0`);
            const size = body?.length ?? 0;
            const start = size > 0 ? this.#put(body) : 0;
            pointer = calls.posenc_ask(this.#put(bytesOf(head.join(''))), start, size);
        } else pointer = calls.posenc_ask(0, 0, 0);
        if (!pointer) throw new RangeError('posenc.wasm has no memory for the reply');
        const fields = this.#textAt(calls.posenc_fields(pointer)).split('\n').slice(0, -1);
        const reply = {
            status: calls.posenc_status(pointer),
            headers: fields.map((field) => field.split(/: (.*)/s, 2)),
        };
        return {...reply, ...this.#begin(pointer)};
    }

    /** The body as far as it comes at once. */
    #begin(pointer) {
        const parts = [];
        for (let size = 0; size < FIRST_BYTES; size += parts.at(-1).length) {
            const part = this.#next(pointer);
            if (!part) {
                const whole = this.#calls.posenc_is_complete(pointer);
                this.#calls.posenc_end(pointer);
                if (!whole) throw new Error('computing was ended before the body was whole');
                return {body: parts.length > 0 ? join(parts) : null};
            }
            parts.push(part);
        }
        const id = this.#nextId++;
        this.#exchanges.set(id, pointer);
        return {body: join(parts), id};
    }

    #next(pointer) {
        const start = this.#calls.posenc_read(pointer);
        const size = this.#calls.posenc_part_size(pointer);
        return start
            ? new Uint8Array(this.#calls.memory.buffer.slice(start, start + size))
            : null;
    }

    /** The next bytes of a body, null at its end. */
    read(id) {
        const pointer = this.#exchanges.get(id);
        const part = this.#next(pointer);
        if (part) return part;
        const whole = this.#calls.posenc_is_complete(pointer);
        this.end(id);
        if (!whole) throw new Error('computing was ended before the body was whole');
        return null;
    }

    /** Nobody reads the rest of a body. */
    end(id) {
        const pointer = this.#exchanges.get(id);
        if (pointer) this.#calls.posenc_end(pointer);
        this.#exchanges.delete(id);
    }
}
