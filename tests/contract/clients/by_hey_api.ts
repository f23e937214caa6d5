// Every operation by the client that hey-api generates. It is compiled and not run.
import * as posenc from './hey/index';

const bytes = new Blob([new Uint8Array(8)]);
const config = {model_type: 'llama', hidden_size: 64, rope_scaling: {rope_type: 'linear'}};
const path = {scheme: 'rope'};
const parameters = {length: 4, dim: 8};
const name = {path: {name: 'mine'}};
const raised = {throwOnError: true} as const;

export async function readsDocuments() {
    const page: string | Blob = (await posenc.getPage(raised)).data;
    const docs: string | Blob = (await posenc.getDocs(raised)).data;
    const script: string | Blob = (
        await posenc.getAsset({path: {file: 'main.js'}, ...raised})
    ).data;
    const {schemes} = (await posenc.listSchemes(raised)).data;
    const scheme: posenc.Scheme = (await posenc.getScheme({path, ...raised})).data;
    const rows: posenc.Parameter[] = [...schemes, scheme].flatMap((each) => each.parameters);
    const {models} = (await posenc.listModels(raised)).data;
    const info: string = (await posenc.getInfo(raised)).data.version;
    const live: string = (await posenc.checkLiveness(raised)).data.status;
    const ready: string = (await posenc.checkReadiness(raised)).data.status;
    const metrics: string = (await posenc.getMetrics(raised)).data;
    const document: posenc.Document = (await posenc.getOpenapi(raised)).data;
    return [page, docs, script, rows, models.length, info, live, ready, metrics, document];
}

export async function readsTensors() {
    const query = {...parameters, positions: [0, 1.5], dtype: 'f64' as const};
    const free = {parameters, format: 'json'} as const;
    const similar = {...free, metric: 'l2' as const, rows: [0]};
    const all: posenc.Tensors[] = [
        (await posenc.getRope({query, ...raised})).data,
        (await posenc.postRope({body: {...query, preset: null}, ...raised})).data,
        (await posenc.getEncoding({path, query: free, ...raised})).data,
        (await posenc.postEncoding({path, body: parameters, ...raised})).data,
        (await posenc.getSimilarity({path, query: similar, ...raised})).data,
        (
            await posenc.postSimilarity({
                path,
                body: {...parameters, metric: 'cosine'},
                ...raised,
            })
        ).data,
    ];
    const requests = [{name: 'rotary', scheme: 'rope', ...parameters}];
    const batch: posenc.Batch = (await posenc.postBatch({body: {requests}, ...raised})).data;
    const shapes = all.map((answer) => answer.tensors.map(({shape}) => shape));
    return [shapes, batch.results.length];
}

export async function sendsTables() {
    const compared: posenc.Comparison = (
        await posenc.compareTable({
            path,
            query: {parameters, tolerance: 'float32'},
            body: bytes,
            ...raised,
        })
    ).data;
    const found: posenc.Identity[] = [
        (await posenc.identifyTable({body: bytes, ...raised})).data,
        (await posenc.identifyTable({query: {set: 'mine'}, body: bytes, ...raised})).data,
    ];
    const model = {parameters, model: 'llama-3.1-8b'};
    const applied: posenc.Judgement[] = [
        (await posenc.applyModel({query: model, body: bytes, ...raised})).data,
        (await posenc.applyScheme({path, query: {parameters}, body: bytes, ...raised}))
            .data,
    ];
    const converted: Blob = (
        await posenc.convertRope({
            query: {to: 'interleaved', head_dim: 8},
            body: bytes,
            ...raised,
        })
    ).data;
    return [compared, found, applied, converted.size];
}

export async function plansModels() {
    const query = {plan: true, set: 'mine', length: 8};
    const planned = [
        (await posenc.getModel({path: {model: 'gpt2'}, query, ...raised})).data,
        (await posenc.planModel({query, body: config, ...raised})).data,
    ];
    const pair = {first: config, second: 'gpt2'};
    const compared: posenc.ModelComparison = (
        await posenc.compareModels({body: pair, ...raised})
    ).data;
    const plans = planned.filter((plan): plan is posenc.Plan => 'model_type' in plan);
    return [plans.map(({parts}) => parts.length), compared];
}

export async function keepsSets() {
    const stored = (await posenc.putSet({...name, body: bytes, ...raised})).data;
    const {sets} = (await posenc.listSets(raised)).data;
    const file: Blob = (await posenc.getSet({...name, ...raised})).data;
    const {response} = await posenc.deleteSet({...name, ...raised});
    return [sets.map(({digest}) => digest), stored, file.size, response.status];
}
