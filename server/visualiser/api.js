// Talking to the service: documents, problems, and tensors window by window.
import {BYTES, decode} from './numbers.js';

export const WINDOW_ELEMENTS = 2 ** 22; // the most that one request asks for

// A problem document of the service (RFC 9457), or what stands for one.
export class Problem extends Error {
  constructor(document, status) {
    super(document.detail ?? document.title ?? `status ${status}`);
    this.document = document;
    this.status = status;
  }
  // What concerns a parameter: {given, allowed, did_you_mean}.
  of(name) {
    return this.document.errors?.find(({parameter}) => parameter === name);
  }
}

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

export async function getDocument(url, signal) {
  const response = await send(url, {signal});
  if (!response.ok) throw await problemOf(response);
  return response.json();
}

// "/v1/encodings/rope?length=4&dim=8&tensor=cos": empty texts count as absent.
export function addressOf(settings, extra = {}) {
  const query = Object.entries({...settings.parameters, ...extra}).filter(([, text]) => text != null && text !== '');
  const text = query.map(([name, value]) => `${name}=${encodeURIComponent(value).replace(/%2C/g, ',')}`).join('&');
  return `/v1/encodings/${settings.scheme}${text && '?'}${text}`;
}

// What a request would give, without computing: {name, dtype, shape}.
export async function describe(settings, tensor, signal) {
  const address = addressOf(settings, {tensor, format: 'raw'});
  const response = await send(address, {method: 'HEAD', signal, cache: 'no-store'});
  if (!response.ok) throw await problemOf(await send(address, {signal})); // HEAD has no document
  return {
    name: response.headers.get('Tensor-Name'),
    dtype: response.headers.get('Tensor-Dtype'),
    shape: response.headers.get('Tensor-Shape').split(',').map(Number),
  };
}

// Read a body of known length, telling how far it is.
async function readBody(response, size, progress) {
  const bytes = new Uint8Array(size);
  let used = 0;
  for (const reader = response.body.getReader(); ; ) {
    const {done, value} = await reader.read();
    if (done) break;
    if (used + value.length > size) throw new Problem({detail: 'The body is longer than announced.'}, response.status);
    bytes.set(value, used);
    used += value.length;
    progress?.(used, size);
  }
  if (used < size) throw new Problem({detail: 'The body ended early.'}, response.status);
  return bytes.buffer;
}

// Elements [first, first + count) of a tensor in row-major order, as a range of its raw form: these are
// the bits of the whole, of any scheme and shape. Resolves to {data, cache, timing, bytes, milliseconds}.
export async function getElements(settings, {name, dtype, shape}, first, count, {signal, progress} = {}) {
  if (count > WINDOW_ELEMENTS) throw new RangeError(`${count} elements in one request`);
  const size = BYTES[dtype];
  const whole = shape.reduce((product, extent) => product * extent, 1);
  const headers = count < whole ? {Range: `bytes=${first * size}-${(first + count) * size - 1}`} : {};
  const start = performance.now();
  const address = addressOf(settings, {tensor: name, format: 'raw'});
  const response = await send(address, {headers, signal, cache: 'no-store'}); // so that Cache-Status is of now
  if (!response.ok) throw await problemOf(response);
  const buffer = await readBody(response, count * size, progress);
  return {
    data: decode(dtype, buffer),
    cache: /\bhit\b/.test(response.headers.get('Cache-Status') ?? '') ? 'hit' : 'miss',
    timing: response.headers.get('Server-Timing') ?? '',
    bytes: buffer.byteLength,
    milliseconds: performance.now() - start,
  };
}
