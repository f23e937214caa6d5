// Talking to the service: documents, problems, and tensors window by window.
import {BYTES, decode} from './numbers.js';

export const WINDOW_ELEMENTS = 2 ** 22; // the most that one request asks for

const TOLD = 2; // of several errors; the others stand beside their fields

// A message for people who fill in a form, not for those who write a request.
const worded = ({parameter, allowed, message}) =>
    message.startsWith('missing parameter') ? `${parameter} is missing: ${allowed}` : message;

function severalOf({errors = []}) {
    if (errors.length === 1 && worded(errors[0]) === errors[0].message) return '';
    const told = errors.slice(0, TOLD).map(worded);
    const rest = errors.length - told.length;
    return told.join('; ') + (rest > 0 ? `; and ${rest} more` : '');
}

// A problem document of the service (RFC 9457), or another failure in its form.
export class Problem extends Error {
    constructor(document, status) {
        super(severalOf(document) || (document.detail ?? document.title ?? `status ${status}`));
        this.document = document;
        this.status = status;
    }
    // What concerns a parameter: {given, allowed, message, did_you_mean}.
    of(name) {
        return this.document.errors?.find(({parameter}) => parameter === name);
    }
}

// Where no server answers, in a site of static files, site.js answers fetch by the module. What
// asks by itself does not come that way:

// the address of a picture of the service;
export const pictureAt = async (address) =>
    globalThis.posencSite ? URL.createObjectURL(await (await fetch(address)).blob()) : address;

// and programs elsewhere: there is no address that they could ask.
export const isSite = () => Boolean(globalThis.posencSite);

async function problemOf(response) {
    const document = await response.json().catch(() => ({detail: response.statusText}));
    return new Problem(document, response.status);
}

async function send(url, options) {
    try {
        return await fetch(url, options);
    } catch (error) {
        if (error.name === 'AbortError') throw error;
        throw new Problem({detail: 'The service does not answer.'}, 0);
    }
}

// A document; with a body, which is JSON unless another type is given, it is asked for by POST.
// `key` is what the server asks for.
export async function getDocument(url, signal, body, {type = 'application/json', key} = {}) {
    const authorization = key ? {Authorization: `Bearer ${key}`} : {};
    const post =
        body === undefined
            ? {}
            : {method: 'POST', headers: {'Content-Type': type, ...authorization}, body};
    const response = await send(url, {signal, ...post});
    if (!response.ok) throw await problemOf(response);
    return response.json();
}

let info = null;

// What the service says of itself: asked once, and again where nobody has answered.
export function serviceInfo() {
    info ??= getDocument('/v1/info').catch((error) => {
        info = null;
        throw error;
    });
    return info;
}

// "/v1/encodings/rope?length=4&dim=8&tensor=cos": empty texts count as absent. Settings may
// name another collection of tables: {collection: 'similarity', scheme, parameters}.
export function addressOf(settings, extra = {}) {
    const query = Object.entries({...settings.parameters, ...extra}).filter(
        ([, text]) => text != null && text !== '',
    );
    const text = query
        .map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%2C/g, ',')}`)
        .join('&');
    return `/v1/${settings.collection ?? 'encodings'}/${settings.scheme}${text && '?'}${text}`;
}

// Bytes [first, end) of a form, or fewer at its end.
async function getPart(settings, extra, first, end, signal) {
    const address = addressOf(settings, extra);
    const response = await send(address, {
        headers: {Range: `bytes=${first}-${end - 1}`},
        signal,
        cache: 'no-store',
    });
    if (!response.ok) throw await problemOf(response);
    return response;
}

// Whether the table was cached, and the computation time: {cache: 'hit' | 'miss', timing}.
function effortOf({headers}) {
    return {
        cache: /\bhit\b/.test(headers.get('Cache-Status') ?? '') ? 'hit' : 'miss',
        timing: headers.get('Server-Timing') ?? '',
    };
}

// Throws what the service refuses before it computes anything.
export async function accepts(settings, signal) {
    const address = addressOf(settings, {format: 'safetensors'});
    const {ok, status} = await send(address, {method: 'HEAD', signal});
    if (!ok) throw new Problem({}, status);
}

const HEAD_BYTES = 4096; // mostly enough for the head of a safetensors file

// What a request returns: {tensors: [{name, dtype, shape}], parameters: all as texts, cache,
// timing}. It is read from the header of the safetensors form, so that the tensors are not sent
// and large ones not computed.
export async function describe(settings, signal) {
    const extra = {format: 'safetensors'};
    const response = await getPart(settings, extra, 0, HEAD_BYTES, signal);
    const start = new Uint8Array(await response.arrayBuffer());
    const end = 8 + Number(new DataView(start.buffer).getBigUint64(0, true));
    const parts = [start.subarray(0, end)];
    if (end > start.length)
        parts.push(
            new Uint8Array(
                await (await getPart(settings, extra, start.length, end, signal)).arrayBuffer(),
            ),
        );
    const {__metadata__: parameters, ...tensors} = JSON.parse(
        (await new Blob(parts).text()).slice(8),
    );
    return {
        tensors: Object.entries(tensors).map(([name, {dtype, shape}]) => ({
            name,
            dtype: dtype.toLowerCase(),
            shape,
        })),
        parameters,
        ...effortOf(response),
    };
}

// Read a body of known length and report the progress.
async function readBody(response, size, progress) {
    const bytes = new Uint8Array(size);
    let used = 0;
    for (const reader = response.body.getReader(); ;) {
        const {done, value} = await reader.read();
        if (done) break;
        if (used + value.length > size)
            throw new Problem({detail: 'The body is longer than announced.'}, response.status);
        bytes.set(value, used);
        used += value.length;
        progress?.(used, size);
    }
    if (used < size) throw new Problem({detail: 'The body ended early.'}, response.status);
    return bytes.buffer;
}

// Elements [first, first + count) of a tensor in row-major order, as a range of its raw form:
// these are the bits of the whole, of any scheme and shape. Resolves to {data, cache, timing,
// bytes, milliseconds}.
export async function getElements(
    settings,
    {name, dtype, shape},
    first,
    count,
    {signal, progress} = {},
) {
    if (count > WINDOW_ELEMENTS) throw new RangeError(`${count} elements in one request`);
    const size = BYTES[dtype];
    const whole = shape.reduce((product, extent) => product * extent, 1);
    const headers =
        count < whole ? {Range: `bytes=${first * size}-${(first + count) * size - 1}`} : {};
    const start = performance.now();
    const address = addressOf(settings, {tensor: name, format: 'raw'});
    // so that Cache-Status is of now
    const response = await send(address, {headers, signal, cache: 'no-store'});
    if (!response.ok) throw await problemOf(response);
    const buffer = await readBody(response, count * size, progress);
    return {
        data: decode(dtype, buffer),
        ...effortOf(response),
        bytes: buffer.byteLength,
        milliseconds: performance.now() - start,
    };
}
