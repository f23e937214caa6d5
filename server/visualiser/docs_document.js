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
    const isOld = ({$ref}) => components.parameters[$ref?.split('/').pop()]?.deprecated;
    for (const [path, item] of Object.entries(paths)) {
        if (Object.values(item).every(({deprecated}) => deprecated)) delete paths[path];
        for (const operation of Object.values(item))
            operation.parameters = operation.parameters.filter((each) => !isOld(each));
    }
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
