/* posenc without a server: `fetch` for the paths of its HTTP interface, by posenc.wasm.
 *
 *     const posenc = await open();
 *     const response = await posenc.fetch("/v1/encodings/rope?length=8&dim=4");
 */
import {Engine} from './engine.js';

const IDLE_BYTES = 192 * 1024 * 1024; // an idle instance of more memory is replaced
const NULL_BODY = [204, 205, 304];
const STORED = /^\/v1\/(?:sets|parameters)\/[^/?]+/;

const HERE = import.meta.url; // what bundlers are not to look for is beside this one
const ofNode = (name) => import(name); // no bundler is to look for modules of Node

/** Compile posenc.wasm, from where it is: a URL, bytes or a module that is compiled already. */
async function compile(source) {
    if (source instanceof WebAssembly.Module) return source;
    if (source instanceof ArrayBuffer || ArrayBuffer.isView(source))
        return WebAssembly.compile(source);
    const url = new URL(source, HERE);
    if (url.protocol === 'file:' && globalThis.process?.versions?.node) {
        const {readFile} = await ofNode('node:fs/promises');
        return WebAssembly.compile(await readFile(url));
    }
    const response = await fetch(url);
    if (!response.ok) throw new TypeError(`${url}: status ${response.status}`);
    return WebAssembly.compile(await response.arrayBuffer());
}

/** An engine in this thread, by the interface of the one in a worker. */
class Direct {
    async start(module, settings) {
        this.engine = await Engine.start(module, settings);
    }

    async call(method, ...given) {
        return this.engine[method](...given);
    }

    get bytes() {
        return this.engine.bytes;
    }

    stop() {}
}

/** A flag that two threads see, where the platform lets them share memory; else null. */
function sharedFlag() {
    const shares = typeof SharedArrayBuffer === 'function';
    if (!shares || globalThis.crossOriginIsolated === false) return null;
    return new Int32Array(new SharedArrayBuffer(4));
}

/** A worker of Node, or of a page: there, bundlers know the worker by what is written here. */
async function startWorker(url) {
    if (typeof globalThis.Worker !== 'function') {
        const {Worker: Thread} = await ofNode('node:worker_threads');
        return new Thread(new URL(url ?? './worker.js', HERE));
    }
    if (url !== undefined) return new Worker(url, {type: 'module'});
    return new Worker(new URL('./worker.js', import.meta.url), {type: 'module'});
}

/** What is wrong with a worker; a page is told nothing of one that it cannot load. */
function describeFailure({message}, url) {
    const script = url ?? 'worker.js';
    return (
        message ??
        `the worker ${script} could not be loaded: open({worker: URL}) says where it is, ` +
            'open({worker: false}) computes without it'
    );
}

/** An engine in a worker. It is called once at a time. */
class Threaded {
    bytes = 0;
    flag = sharedFlag();

    constructor(url) {
        this.url = url;
    }

    async start(module, settings) {
        this.worker = await startWorker(this.url);
        const answer = (data) => this.answered?.(data);
        const fail = (error) =>
            answer({failure: {name: 'Error', message: describeFailure(error, this.url)}});
        if (this.worker.on) this.worker.on('message', answer).on('error', fail);
        else {
            this.worker.onmessage = ({data}) => answer(data);
            this.worker.onerror = fail;
        }
        await this.call('start', module, settings, this.flag);
    }

    call(...message) {
        if (this.flag) this.flag[0] = 0;
        this.worker.ref?.(); // while a call is under way Node waits for it, but no longer
        return new Promise((resolve, reject) => {
            this.answered = ({result, bytes, failure}) => {
                this.worker.unref?.();
                this.bytes = bytes ?? this.bytes;
                if (!failure) return resolve(result);
                const Kind = failure.name === 'RangeError' ? RangeError : Error;
                reject(Object.assign(new Kind(failure.message), {trapped: failure.trapped}));
            };
            this.worker.postMessage(message);
        });
    }

    /** End the computation that is under way, its call as well. False: it goes on. */
    interrupt() {
        if (!this.flag) return false;
        Atomics.store(this.flag, 0, 1);
        return true;
    }

    stop() {
        this.worker?.terminate();
    }
}

/** The module: calls one after the other, and an instance that is replaced when it has failed,
 * has become large or computes what nobody wants. Sets are put into each new one. */
class Module {
    form = 'module';
    #queue = Promise.resolve();
    #waiting = 0;
    #reading = new Set(); // bodies that are not whole yet
    #stored = new Map(); // {target: request that has stored it}

    constructor(options) {
        this.options = options;
    }

    async #start() {
        const {module, limits, worker} = this.options;
        const engine = worker
            ? new Threaded(worker === true ? undefined : worker)
            : new Direct();
        await engine.start(module, limits);
        for (const request of this.#stored.values()) await engine.call('ask', request);
        this.engine = engine;
    }

    async ready() {
        await this.#enqueue(async () => {});
        return this;
    }

    #drop() {
        this.engine?.stop();
        this.engine = null;
        for (const body of this.#reading) body.lost = true;
        this.#reading.clear();
    }

    /** Do something with the engine when what came before has ended. */
    #enqueue(task) {
        this.#waiting++;
        const result = this.#queue.then(async () => {
            if (this.closed) throw new TypeError('posenc has been closed');
            if (!this.engine) await this.#start();
            return task(this.engine);
        });
        this.#queue = result
            .catch(() => {})
            .then(() => {
                const idle = --this.#waiting === 0 && this.#reading.size === 0;
                if (idle && this.engine?.bytes > (this.options.idleBytes ?? IDLE_BYTES))
                    this.#drop();
            });
        return result;
    }

    /** A call that a signal ends. */
    async #call(engine, signal, ...message) {
        signal?.throwIfAborted();
        let abort;
        const aborted = new Promise((_, reject) => {
            abort = () => {
                const goesOn = engine.interrupt?.() || this.#reading.size > 0;
                if (!goesOn && engine instanceof Threaded) this.#drop();
                reject(signal.reason);
            };
        });
        const called = engine.call(...message);
        signal?.addEventListener('abort', abort, {once: true});
        try {
            return await Promise.race([called, aborted]);
        } catch (error) {
            if (signal?.aborted && this.engine === engine) await this.#discard(engine, called);
            throw error;
        } finally {
            signal?.removeEventListener('abort', abort);
        }
    }

    /** The answer to a call that nobody waits for. */
    async #discard(engine, called) {
        const reply = await called.catch(() => null);
        if (reply?.id) await engine.call('end', reply.id);
    }

    async #ask(request, signal) {
        try {
            return await this.#enqueue((engine) => this.#call(engine, signal, 'ask', request));
        } catch (error) {
            if (!error.trapped && !(error instanceof WebAssembly.RuntimeError)) throw error;
            this.#drop();
            return this.#enqueue((engine) => engine.call('ask', null));
        }
    }

    #keep(request, status) {
        const target = STORED.exec(request.target)?.[0];
        if (!target || status >= 300) return;
        const headers = request.headers.filter(([name]) => !/^if-/i.test(name));
        if (request.method === 'PUT') this.#stored.set(target, {...request, headers});
        if (request.method === 'DELETE') this.#stored.delete(target);
    }

    #stream(reply, signal) {
        const body = {lost: false};
        this.#reading.add(body);
        const end = () => this.#reading.delete(body);
        const pull = async (controller) => {
            const read = async (engine) => {
                if (body.lost) throw new TypeError('the module was restarted meanwhile');
                return this.#call(engine, signal, 'read', reply.id);
            };
            try {
                const part = await this.#enqueue(read);
                if (part) return controller.enqueue(part);
                end();
                controller.close();
            } catch (error) {
                end();
                controller.error(error);
            }
        };
        const cancel = () => {
            end();
            return this.#enqueue(async (engine) => body.lost || engine.call('end', reply.id));
        };
        const start = (controller) => controller.enqueue(reply.body);
        return new ReadableStream({start, pull, cancel}, {highWaterMark: 1});
    }

    /** As the global fetch; of a URL only path and query count. */
    async fetch(input, init = {}) {
        const {request, signal} = await readRequest(input, init);
        const reply = await this.#ask(request, signal);
        this.#keep(request, reply.status);
        const body = reply.id ? this.#stream(reply, signal) : reply.body;
        const empty = NULL_BODY.includes(reply.status) || request.method === 'HEAD';
        return new Response(empty ? null : (body ?? new Uint8Array()), {
            status: reply.status,
            headers: reply.headers,
        });
    }

    /** End the worker and whatever it computes. */
    close() {
        this.closed = true;
        this.#drop();
    }
}

/** What the arguments of fetch ask: {request: that of the engine, signal}. */
async function readRequest(input, init) {
    const given = typeof input === 'object' && 'headers' in input ? input : null;
    const url = new URL(given ? given.url : input, 'http://localhost');
    const method = (init.method ?? given?.method ?? 'GET').toUpperCase();
    const headers = new Headers(init.headers ?? given?.headers);
    const content = init.body ?? (given?.body === null ? null : await given?.arrayBuffer());
    const carrier = new Response(content ?? null);
    const type = carrier.headers.get('Content-Type');
    const body = content == null ? null : new Uint8Array(await carrier.arrayBuffer());
    if (type && !headers.has('Content-Type')) headers.set('Content-Type', type);
    if (!headers.has('Accept')) headers.set('Accept', '*/*');
    headers.set('Host', 'localhost');
    const target = url.pathname + url.search;
    const signal = init.signal ?? given?.signal ?? null;
    return {request: {method, target, headers: [...headers], body}, signal};
}

/** A server, by the same interface. */
class Remote {
    form = 'server';

    constructor(url) {
        this.url = new URL(url, globalThis.location?.href);
        if (!this.url.pathname.endsWith('/')) this.url.pathname += '/';
    }

    fetch(input, init) {
        if (typeof input === 'object' && 'headers' in input) return fetch(input, init);
        const {pathname, search} = new URL(input, 'http://localhost');
        return fetch(new URL(`.${pathname}${search}`, this.url), init);
    }

    close() {}
}

/** Open the module: options are
 *   url: the address of a server to ask instead,
 *   worker: false to compute in this thread; or the URL of worker.js,
 *   wasm: where posenc.wasm is: a URL, its bytes, or a compiled WebAssembly.Module,
 *   limits: settings by the names of /v1/info, such as {"max-elements": 1000000},
 *   idleBytes: the memory that an idle instance may keep. */
export async function open({url, worker = true, wasm, limits, idleBytes} = {}) {
    if (url !== undefined) return new Remote(url);
    const module = await compile(wasm ?? new URL('./posenc.wasm', import.meta.url));
    return new Module({module, limits, worker, idleBytes}).ready();
}
