/* What a page of the site does before the page itself: the service is the module. This stands
 * behind engine.js and posenc.js in site.js, which is no module, so that a browser also loads
 * it from a file. */
/* global SCRIPT, posencWasm */
const base = new URL('.', SCRIPT);
const isFile = location.protocol === 'file:';
const SERVICE = /^\/(v1\/|health\/|openapi\.json$|metrics$)/;
const network = globalThis.fetch.bind(globalThis);

/** The bytes of posenc.wasm out of wasm.js: a page that is a file may fetch none. */
async function wasmOfFile() {
    await new Promise((loaded, failed) => {
        const script = document.createElement('script');
        Object.assign(script, {src: new URL('wasm.js', base), onload: loaded, onerror: failed});
        document.head.append(script);
    });
    const packed = Uint8Array.from(atob(posencWasm), (character) => character.charCodeAt(0));
    const unpacked = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
    return new Response(unpacked).arrayBuffer();
}

async function begin() {
    if (isFile) return open({wasm: await wasmOfFile(), worker: false});
    const wasm = new URL('module/posenc.wasm', base);
    const worker = new URL('module/worker.js', base).href;
    return open({wasm, worker}).catch(() => open({wasm, worker: false}));
}
const opening = begin();
opening.catch(() => {}); // who asks is told

/** The path of the service that an address means, without that of the site; null for others. */
function targetOf(address) {
    const url = new URL(address, location.href);
    const inside = !isFile && url.pathname.startsWith(base.pathname);
    const path = inside ? url.pathname.slice(base.pathname.length - 1) : url.pathname;
    return url.origin === location.origin && SERVICE.test(path) ? path + url.search : null;
}

globalThis.posencSite = true;
globalThis.fetch = async (input, init) => {
    const given = input instanceof Request ? input : null;
    const target = targetOf(given ? given.url : input);
    if (target === null) return network(input, init);
    const posenc = await opening;
    if (!given) return posenc.fetch(target, init);
    const {method, headers, signal} = given;
    const body = ['GET', 'HEAD'].includes(method) ? null : await given.arrayBuffer();
    return posenc.fetch(target, {method, headers, signal, body, ...init});
};

/** A link to the service: its answer is saved, or shown in another tab. */
async function follow(link, target) {
    const response = await (await opening).fetch(target);
    const named = /filename="([^"]+)"/.exec(response.headers.get('Content-Disposition') ?? '');
    const address = URL.createObjectURL(await response.blob());
    const copy = document.createElement('a');
    copy.href = address;
    if (link.hasAttribute('download')) copy.download = link.download || (named?.[1] ?? '');
    else copy.target = '_blank';
    copy.click();
    setTimeout(() => URL.revokeObjectURL(address), 60_000); // saving begins later
}

addEventListener('click', (event) => {
    const link = event.target.closest?.('a[href]');
    const target = link && targetOf(link.href);
    if (!target) return;
    event.preventDefault();
    follow(link, target);
});

if (!isFile && 'serviceWorker' in navigator)
    navigator.serviceWorker.register(new URL('sw.js', base), {type: 'module'}).catch(() => {});
