// The OpenAPI document as Swagger UI should show it: it sends every example and every default
// value with the requests that are tried, and repeats what all answers share below each of
// them.

const textOf = (value) => (typeof value === 'string' ? value : JSON.stringify(value));

// Values that nobody needs to give become part of the text.
function tellValues(parameter) {
    const {examples, default: usual} = parameter.schema ?? {};
    if (examples) parameter.example = examples[0];
    if (parameter.required || usual === undefined) return;
    parameter.description = `${parameter.description} (default ${textOf(usual)})`;
    delete parameter.schema.default;
}

const isProblem = ({content}) =>
    Object.keys(content ?? {}).join() === 'application/problem+json';

// The header fields that all of these responses have.
function shared(responses) {
    const [first, ...others] = responses.map(({headers}) => Object.keys(headers ?? {}));
    return first.filter((name) => others.every((names) => names.includes(name)));
}

function drop(names, response) {
    for (const name of names) delete response.headers?.[name];
    if (Object.keys(response.headers ?? {}).length === 0) delete response.headers;
}

// Old names, which go on working: nobody is to begin with them.
function dropOldNames({components, paths}) {
    const isOld = (each) =>
        (each.$ref ? components.parameters[each.$ref.split('/').pop()] : each).deprecated;
    for (const [path, item] of Object.entries(paths)) {
        if (Object.values(item).every(({deprecated}) => deprecated)) delete paths[path];
        for (const operation of Object.values(item))
            operation.parameters = operation.parameters.filter((each) => !isOld(each));
    }
}

// What people come for, in this order: the first group that takes an operation has it.
const GROUPS = [
    {
        title: 'Compute a table',
        notice: 'the tensors of a scheme, in every format',
        takes: ({method, tag}) => tag === 'encodings' && method === 'get',
    },
    {
        title: 'The positions of a model',
        notice: 'from its name, its config.json or a GGUF file',
        takes: ({tag}) => tag === 'models',
    },
    {
        title: 'Check a table of yours',
        notice: 'compare it with the exact one, or find what made it',
        takes: ({path}) => /^\/v1\/(compare|identify)/.test(path),
    },
    {
        title: 'Apply and convert',
        notice: 'queries, keys, scores and weights of yours',
        takes: ({tag}) => tag === 'tables',
    },
    {
        title: 'How alike positions are',
        notice: 'distances and correlations',
        takes: ({tag}) => tag === 'similarity',
    },
    {
        title: 'Several tables, or by a JSON object',
        notice: 'the same by POST',
        takes: ({tag}) => tag === 'encodings',
    },
    {
        title: 'Sets',
        notice: 'trained tensors that schemes use',
        takes: ({tag}) => tag === 'sets',
    },
    {title: 'What there is', notice: 'schemes, limits, health, metrics', takes: () => true},
];

// The operations in groups: [{title, notice, operations: [{method, path, tag, operation}]}].
export function groupsOf({paths}) {
    const groups = GROUPS.map(({title, notice}) => ({title, notice, operations: []}));
    for (const [path, item] of Object.entries(paths))
        for (const [method, operation] of Object.entries(item)) {
            const found = {method, path, tag: operation.tags[0], operation};
            groups[GROUPS.findIndex(({takes}) => takes(found))].operations.push(found);
        }
    return groups.filter(({operations}) => operations.length > 0);
}

// The names in `#/components/KIND/NAME` of all that a part of a document refers to, whether by
// itself or by another one.
function referredBy(part, {components}, found = new Set()) {
    if (part === null || typeof part !== 'object') return found;
    for (const [key, value] of Object.entries(part)) {
        if (key !== '$ref') referredBy(value, {components}, found);
        else if (!found.has(value)) {
            found.add(value);
            const [, , kind, name] = value.split('/');
            referredBy(components[kind]?.[name], {components}, found);
        }
    }
    return found;
}

// The document of one operation by itself.
export function partOf(document, {method, path, tag, operation}) {
    const {openapi, info, servers, security} = document;
    const components = {};
    for (const reference of referredBy(operation, document)) {
        const [, , kind, name] = reference.split('/');
        (components[kind] ??= {})[name] = document.components[kind][name];
    }
    const keys = (operation.security ?? []).flatMap((each) => Object.keys(each));
    for (const key of keys)
        (components.securitySchemes ??= {})[key] = document.components.securitySchemes[key];
    return {
        openapi,
        info,
        servers,
        security,
        tags: [{name: tag}],
        paths: {[path]: {[method]: operation}},
        components,
    };
}

export function forReading(document) {
    const {components, info, paths} = document;
    dropOldNames(document);
    const operations = Object.values(paths).flatMap((item) => Object.values(item));
    const inline = operations
        .flatMap(({responses}) => Object.values(responses))
        .filter((response) => !response.$ref);
    const responses = [...Object.values(components.responses), ...inline];
    const failures = responses.filter(isProblem);
    for (const parameter of [
        ...Object.values(components.parameters),
        ...operations.flatMap(({parameters}) => parameters ?? []),
    ])
        if (!parameter.$ref) tellValues(parameter);
    const [everywhere, withFailures] = [shared(responses), shared(failures)];
    responses.forEach((response) => drop(everywhere, response));
    Object.entries(components.responses)
        .filter(([name, response]) => name !== 'Malformed' && isProblem(response))
        .forEach(([, response]) => {
            drop(withFailures, response);
            delete response.content;
        });
    info.description +=
        ` Every answer has the header fields ${everywhere.join(', ')}. Every ` +
        'failure is a problem document (RFC 9457), which is shown with status 400.';
    return document;
}
