/* The service worker of the site: its files without the network, and the paths of the service
 * where the page does not ask by itself. FILES and RELEASE are filled in by build.mjs. */
import {open} from './module/posenc.js';

const FILES = [];
const RELEASE = '';
const SERVICE = /^\/(v1\/|health\/|openapi\.json$|metrics$)/;
const scope = new URL('.', location.href);
const kept = `posenc ${scope.pathname} `;

let opening = null;
async function begin() {
    const wasm = await (await find('module/posenc.wasm')).arrayBuffer();
    return open({wasm, worker: false});
}

/** A file of the site, from the cache. */
async function find(name) {
    const address = new URL(name, scope);
    const cache = await caches.open(kept + RELEASE);
    return (await cache.match(address, {ignoreSearch: true})) ?? fetch(address);
}

async function answer(request, target) {
    const posenc = await (opening ??= begin());
    const {method, headers} = request;
    const body = ['GET', 'HEAD'].includes(method) ? null : await request.arrayBuffer();
    return posenc.fetch(target, {method, headers, body});
}

addEventListener('install', (event) => {
    const fill = async () => (await caches.open(kept + RELEASE)).addAll(FILES);
    event.waitUntil(fill().then(() => globalThis.skipWaiting()));
});

addEventListener('activate', (event) => {
    const old = (name) => name.startsWith(kept) && name !== kept + RELEASE;
    const tidy = async () =>
        Promise.all((await caches.keys()).filter(old).map((name) => caches.delete(name)));
    event.waitUntil(tidy().then(() => globalThis.clients.claim()));
});

addEventListener('fetch', (event) => {
    const {pathname, origin, search} = new URL(event.request.url);
    if (origin !== scope.origin) return;
    const inside = pathname.startsWith(scope.pathname);
    const path = inside ? pathname.slice(scope.pathname.length - 1) : pathname;
    if (SERVICE.test(path)) event.respondWith(answer(event.request, path + search));
    else if (inside)
        event.respondWith(
            find({'/': 'index.html', '/docs': 'docs.html'}[path] ?? path.slice(1)),
        );
});
