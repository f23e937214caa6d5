// Tables in JSON by the client that orval generates: an answer is one of all formats, which its
// members tell apart. It is compiled and not run.
import {getRope, listSchemes, postBatch} from './orval';

export async function readsTables() {
    const {status, data} = await getRope({length: 4, dim: 8, dtype: 'f64'});
    if (status !== 200) return data;
    if (typeof data === 'string' || data instanceof Blob) return [];
    const name: string | undefined = data.tensors[0]?.name;
    const batch = await postBatch({
        requests: [{name: 'rotary', scheme: 'rope', length: 4, dim: 8}],
    });
    const listed = await listSchemes();
    const first: string | undefined =
        listed.status === 200 ? listed.data.schemes[0]?.name : undefined;
    return [name, batch.status, first];
}
