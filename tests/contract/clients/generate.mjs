// generate.mjs DOCUMENT FOLDER: the types of openapi-typescript and the clients of hey-api and
// orval for an OpenAPI document, as their manuals say; bytes are Blobs.
import {createClient} from '@hey-api/openapi-ts';
import {mkdir, writeFile} from 'node:fs/promises';
import {join} from 'node:path';
import {pathToFileURL} from 'node:url';
import openapiTS, {astToString} from 'openapi-typescript';
import {generate} from 'orval';
import ts from 'typescript';

const [document, folder] = process.argv.slice(2);
const BLOB = ts.factory.createTypeReferenceNode(ts.factory.createIdentifier('Blob'));
const types = await openapiTS(pathToFileURL(document), {
    transform: (schema) => (schema.format === 'binary' ? BLOB : undefined),
});
await mkdir(folder, {recursive: true});
await writeFile(join(folder, 'types.ts'), astToString(types));
await createClient({input: document, output: join(folder, 'hey'), logs: {level: 'silent'}});
await generate({
    input: {target: document},
    output: {target: join(folder, 'orval.ts'), client: 'fetch'},
});
