/* types.mjs MODULE: the types of the package, printed: what the OpenAPI document of the module
 * says of each path, and the interface of posenc.js. */
import {readFileSync} from 'node:fs';
import {join} from 'node:path';
import {fileURLToPath, pathToFileURL} from 'node:url';

const module = process.argv[2];
const {open} = await import(pathToFileURL(join(module, 'posenc.js')));
const posenc = await open({worker: false});
const document = await (await posenc.fetch('/openapi.json')).json();
posenc.close();

const quoted = (text) => `'${String(text).replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const isName = (name) => /^[A-Za-z_$][\w$]*$/.test(name);
const keyOf = (name) => (isName(name) ? name : quoted(name));
const nameOf = (reference) => reference.split('/').pop();

function resolve(value) {
    if (!value?.$ref) return value;
    return value.$ref
        .slice(2)
        .split('/')
        .reduce((part, key) => part[key.replaceAll('~1', '/')], document);
}

const union = (types) => [...new Set(types)].join(' | ') || 'unknown';

function objectOf(schema) {
    const required = new Set(schema.required ?? []);
    const members = Object.entries(schema.properties ?? {}).map(([name, member]) => {
        const key = keyOf(name) + (required.has(name) ? '' : '?');
        return `${comment(member)}${key}: ${typeOf(member)};`;
    });
    const more = schema.additionalProperties;
    if (more && typeof more === 'object') {
        const others = typeOf(more);
        members.push(`[name: string]: ${schema.properties ? 'unknown' : others};`);
    }
    return members.length === 0 ? 'Record<string, unknown>' : `{\n${members.join('\n')}\n}`;
}

function comment({description}) {
    return description ? `/** ${description.replaceAll('*/', '* /')} */\n` : '';
}

const PLAIN = {integer: 'number', number: 'number', string: 'string', boolean: 'boolean'};

/** The type of a JSON Schema. */
function typeOf(schema) {
    if (schema === true || schema === undefined) return 'unknown';
    if (schema.$ref) return `Schemas.${nameOf(schema.$ref)}`;
    if ('const' in schema) return literal(schema.const);
    if (schema.enum) return union(schema.enum.map(literal));
    const alternatives = schema.oneOf ?? schema.anyOf;
    if (alternatives && !schema.properties) return union(alternatives.map(typeOf));
    if (schema.allOf && !schema.properties) return schema.allOf.map(typeOf).join(' & ');
    const types = [schema.type ?? (schema.properties ? 'object' : 'unknown')].flat();
    return union(
        types.map((type) => {
            if (type === 'array')
                return schema.items ? `Array<${typeOf(schema.items)}>` : 'unknown[]';
            return type === 'object' ? objectOf(schema) : (PLAIN[type] ?? type);
        }),
    );
}

const literal = (value) => (typeof value === 'string' ? quoted(value) : JSON.stringify(value));

/** The parameters of an operation in its query. */
function queryOf(parameters) {
    const members = parameters
        .map(resolve)
        .filter((parameter) => parameter.in === 'query')
        .map(
            (parameter) =>
                `${comment(parameter)}${keyOf(parameter.name)}` +
                `${parameter.required ? '' : '?'}: ${typeOf(parameter.schema)};`,
        );
    return members.length === 0 ? 'Record<string, never>' : `{\n${members.join('\n')}\n}`;
}

/** What answers of a status hold: the type of JSON, by media type. */
function contentOf(answer) {
    const content = Object.entries(resolve(answer).content ?? {});
    const members = content.map(([type, {schema}]) => {
        const isJson = /[/+]json$/.test(type);
        return `${quoted(type)}: ${isJson ? typeOf(schema) : 'ArrayBuffer'};`;
    });
    return members.length === 0 ? 'never' : `{\n${members.join('\n')}\n}`;
}

function operationOf(operation, shared) {
    const body = resolve(operation.requestBody)?.content;
    const answers = Object.entries({...operation.responses, ...operation['x-responses']}).map(
        ([status, answer]) =>
            `${/^\d+$/.test(status) ? status : quoted(status)}: ${contentOf(answer)};`,
    );
    return `{
query: ${queryOf([...shared, ...(operation.parameters ?? [])])};
body: ${
        body
            ? union(
                  Object.entries(body).map(([type, {schema}]) =>
                      /[/+]json$/.test(type) ? typeOf(schema) : 'BodyInit',
                  ),
              )
            : 'never'
    };
responses: {\n${answers.join('\n')}\n};
}`;
}

const METHODS = ['get', 'post', 'put', 'delete'];
const schemas = Object.entries(document.components.schemas).map(
    ([name, schema]) => `${comment(schema)}type ${name} = ${typeOf(schema)};`,
);
const paths = Object.entries(document.paths).map(([path, item]) => {
    const operations = METHODS.filter((method) => item[method]).map(
        (method) =>
            `/** ${item[method].summary ?? ''} */\n${method.toUpperCase()}: ` +
            `${operationOf(item[method], item.parameters ?? [])};`,
    );
    return `${quoted(path)}: {\n${operations.join('\n')}\n};`;
});

const own = readFileSync(fileURLToPath(new URL('interface.d.ts', import.meta.url)), 'utf8');
process.stdout.write(
    `${own}
/** The schemas of /openapi.json. */
export declare namespace Schemas {\n${schemas.join('\n')}\n}

/** The paths of posenc ${document.info.version}: the query, body and answers of each method. */
export interface Paths {\n${paths.join('\n')}\n}
`,
);
