/** posenc: exact positional encodings of transformers, as the HTTP interface of a service that
 * runs in WebAssembly, in this process. Written by types.mjs from /openapi.json. */

/** A limit of the module by its name in /v1/info, such as {"max-elements": 1000000}. */
export type Limits = Record<string, number | string>;

export interface Options {
    /** The address of a server to ask instead of the module. */
    url?: string | URL;
    /** false: compute in this thread. Else the URL of worker.js, if a bundler has moved it. */
    worker?: boolean | string;
    /** Where posenc.wasm is: a URL, its bytes, or a module that is compiled already. */
    wasm?: string | URL | ArrayBuffer | ArrayBufferView | WebAssembly.Module;
    limits?: Limits;
    /** Bytes of memory that an instance may keep while it is idle. */
    idleBytes?: number;
}

/** A path of the service with its query. */
export type Target = `/${string}`;

type PathOf<T extends string> = T extends `${infer P}?${string}` ? P : T;
type MethodOf<I> = I extends {method: infer M extends string} ? Uppercase<M> : 'GET';
type OperationOf<T extends string, I> =
    PathOf<T> extends keyof Paths
        ? MethodOf<I> extends keyof Paths[PathOf<T>]
            ? Paths[PathOf<T>][MethodOf<I>]
            : unknown
        : unknown;
type JsonOf<O> = O extends {responses: {200: {'application/json': infer J}}} ? J : unknown;

/** A Response whose JSON has the type that /openapi.json gives to the path's success. */
export interface TypedResponse<J> extends Response {
    json(): Promise<J extends unknown ? (unknown extends J ? any : J) : never>;
}

export interface Posenc {
    /** What answers: the module, or a server. */
    readonly form: 'module' | 'server';
    /** As the global fetch; of a URL only path and query count. */
    fetch<T extends string, I extends RequestInit>(
        input: T,
        init?: I,
    ): Promise<TypedResponse<JsonOf<OperationOf<T, I>>>>;
    fetch(input: URL | Request, init?: RequestInit): Promise<Response>;
    /** End the worker and whatever it computes. */
    close(): void;
}

export function open(options?: Options): Promise<Posenc>;
