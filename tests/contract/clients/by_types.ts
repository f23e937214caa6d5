// Every operation by the types of openapi-typescript: what goes in and what comes out has a
// type. It is compiled and not run.
import type {components, paths} from './types';

type Schemas = components['schemas'];
type Method = 'get' | 'post' | 'put' | 'delete';
type Content<R> = R extends {content: infer C} ? C[keyof C] : never;
type Answer<O> = O extends {responses: infer R}
    ? Content<R[Extract<keyof R, 200 | 201>]>
    : never;
type Sent<O> = O extends {requestBody: infer B} ? {body: Content<B>} : {body?: never};
type Parameters<O> = O extends {parameters: infer G}
    ? Pick<G, keyof G & ('query' | 'path')>
    : {};

/** Ask for a path: parameters and body are those of its operation, and so is the answer. */
declare function ask<P extends keyof paths, M extends Method>(
    method: M,
    path: P,
    given: Parameters<paths[P][M]> & Sent<paths[P][M]>,
): Promise<Answer<paths[P][M]>>;

const bytes = new Blob([new Uint8Array(8)]);
const config = {model_type: 'llama', hidden_size: 64, rope_scaling: {rope_type: 'linear'}};
const name = {path: {name: 'mine'}};
const path = {scheme: 'rope'};
const parameters = {length: 4, dim: 8};

export async function readsDocuments() {
    const page: string | Blob = await ask('get', '/', {});
    const docs: string | Blob = await ask('get', '/docs', {});
    const script: string | Blob = await ask('get', '/assets/{file}', {path: {file: 'main.js'}});
    const {schemes} = await ask('get', '/v1/schemes', {});
    const scheme: Schemas['Scheme'] = await ask('get', '/v1/schemes/{scheme}', {path});
    const names: string[] = [...schemes, scheme].flatMap((each) =>
        each.parameters.map((row) => row.name),
    );
    const {models} = await ask('get', '/v1/models', {});
    const info: string = (await ask('get', '/v1/info', {})).version;
    const live: string = (await ask('get', '/health/live', {})).status;
    const ready: string = (await ask('get', '/health/ready', {})).status;
    const metrics: string = await ask('get', '/metrics', {});
    const document: {[key: string]: unknown} = await ask('get', '/openapi.json', {});
    return [page, docs, script, names, models.length, info, live, ready, metrics, document];
}

export async function readsTensors() {
    const query = {...parameters, positions: [0, 1.5], dtype: 'f64' as const};
    const free = {parameters, format: 'json' as const};
    const similar = {...free, metric: 'l2' as const, rows: [0]};
    const metric = 'cosine' as const;
    const all: (Schemas['Tensors'] | Blob | string)[] = [
        await ask('get', '/v1/encodings/rope', {query}),
        await ask('post', '/v1/encodings/rope', {body: {...query, preset: null}}),
        await ask('get', '/v1/encodings/{scheme}', {path, query: free}),
        await ask('post', '/v1/encodings/{scheme}', {path, body: parameters}),
        await ask('get', '/v1/similarity/{scheme}', {path, query: similar}),
        await ask('post', '/v1/similarity/{scheme}', {path, body: {...parameters, metric}}),
    ];
    const requests = [{name: 'rotary', scheme: 'rope', ...parameters}];
    const batch: Schemas['Batch'] | Blob = await ask('post', '/v1/batch', {body: {requests}});
    return [...all, batch].map((answer) => {
        if (typeof answer === 'string') return answer;
        return answer instanceof Blob ? answer.size : Object.keys(answer).length;
    });
}

export async function sendsTables() {
    const body = bytes;
    const compared: Schemas['Comparison'] = await ask('post', '/v1/compare/{scheme}', {
        path,
        query: {parameters, tolerance: 'float32'},
        body,
    });
    const found: Schemas['Identity'][] = [
        await ask('post', '/v1/identify', {body}),
        await ask('post', '/v1/identify', {query: {set: 'mine'}, body}),
    ];
    const model = {parameters, model: 'llama-3.1-8b'};
    const applied: (Schemas['Judgement'] | Blob)[] = [
        await ask('post', '/v1/apply', {query: model, body}),
        await ask('post', '/v1/apply/{scheme}', {path, query: {parameters}, body}),
    ];
    const query = {to: 'interleaved' as const, head_dim: 8};
    const converted: Blob = await ask('post', '/v1/convert/rope', {query, body});
    return [compared.differing, found.map(({status}) => status), applied, converted.size];
}

export async function plansModels() {
    const query = {plan: true, set: 'mine', length: 8};
    const planned: (Schemas['Plan'] | Schemas['Batch'] | Schemas['ModelComparison'] | Blob)[] =
        [
            await ask('get', '/v1/models/{model}', {path: {model: 'gpt2'}, query}),
            await ask('post', '/v1/models', {query, body: config}),
        ];
    const body = {first: config, second: 'gpt2'};
    const compared: Schemas['ModelComparison'] = await ask('post', '/v1/models/compare', {
        body,
    });
    return [planned, compared];
}

export async function keepsSets() {
    const stored = await ask('put', '/v1/sets/{name}', {...name, body: bytes});
    const {sets} = await ask('get', '/v1/sets', {});
    const digests: string[] = [...sets, stored].map((each) => each.digest);
    const file: Blob = await ask('get', '/v1/sets/{name}', name);
    await ask('delete', '/v1/sets/{name}', name);
    return [digests, file.size];
}
