// A table in JSON and one in bytes by openapi-fetch. It is compiled and not run.
import createClient from 'openapi-fetch';
import type {paths} from './types';

const client = createClient<paths, `application/${string}json`>({baseUrl: 'http://127.0.0.1:8080'});

export async function readsTables() {
    const query = {length: 4, dim: 8, dtype: 'f64'} as const;
    const {data, error} = await client.GET('/v1/encodings/rope', {params: {query}});
    if (error) return error.title;
    const name: string | undefined = data.tensors[0]?.name;
    const npy = await client.GET('/v1/encodings/rope', {
        params: {query: {...query, format: 'npy'}},
        parseAs: 'arrayBuffer',
    });
    const size: number | undefined = npy.data?.byteLength;
    return [name, size];
}
