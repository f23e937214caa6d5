/* The worker's side of posenc.js: an engine that answers one message after the other, in a Web
 * Worker or a thread of Node. A message is [method, …arguments] of the engine; the answer is
 * {result, bytes} or {failure}, with the size of the instance's memory. */
import {Engine} from './engine.js';

function serve(port) {
    let engine;

    async function answer([method, ...given]) {
        if (method === 'start') {
            const [module, settings, flag] = given;
            const isUnwanted = () => flag !== null && Atomics.load(flag, 0) !== 0;
            engine = await Engine.start(module, settings, isUnwanted);
            return null;
        }
        return engine[method](...given) ?? null;
    }

    port.onmessage = async ({data}) => {
        try {
            const result = await answer(data);
            const bytes = result instanceof Uint8Array ? result : result?.body;
            port.postMessage({result, bytes: engine.bytes}, bytes ? [bytes.buffer] : []);
        } catch (error) {
            const trapped = error instanceof WebAssembly.RuntimeError;
            const {name, message} = error;
            port.postMessage({failure: {name, message, trapped}});
        }
    };
}

const threads = 'node:worker_threads'; // no bundler is to look for it
if (typeof globalThis.postMessage === 'function') serve(globalThis);
else import(threads).then(({parentPort}) => serve(parentPort));
