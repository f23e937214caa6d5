// Variants of the same settings: one for each choice of the parameter that steers most others.
// What the variants need in common, the training length and the factor by which it is exceeded,
// is found in the scheme's document.
import {completed} from './prefill.js';
import {conditionsOf, effectiveOf} from './schema.js';

const dependents = (scheme, {name}) =>
    scheme.parameters.filter(({when}) => when?.parameter === name);
const most = (items, size) =>
    items.reduce((best, each) => (best && size(best) >= size(each) ? best : each), null);

// The parameter with choices on which most others depend, or null.
export function steeringOf(scheme) {
    const steering = scheme.parameters.filter(
        (each) => each.choices && dependents(scheme, each).length > 0,
    );
    return most(steering, (each) => dependents(scheme, each).length);
}

// How many choices require a parameter.
const demand = ({when}) => when.cases.filter(({required}) => required).length;

// {trained, stretch}: of what depends on the steering parameter the position and the number
// that most choices require.
function rolesOf(scheme, steering) {
    const wanted = dependents(scheme, steering).filter((each) => demand(each) > 0);
    return {
        trained: most(
            wanted.filter(({unit}) => unit === 'positions'),
            demand,
        ),
        stretch: most(
            wanted.filter(({type, unit}) => type === 'number' && !unit),
            demand,
        ),
    };
}

const spanOf = ({coordinates: [{at}], totalRows}) => Math.abs(at(totalRows - 1) - at(0)) + 1;

// The training length: {length, from}, as the parameters say it, the mark, or else a quarter of
// the table; null if no variant asks for it and nobody says it.
export function trainingOf(table, mark) {
    const {scheme, effective} = table;
    const steering = steeringOf(scheme);
    const {trained} = steering ? rolesOf(scheme, steering) : {};
    const given = trained && effective[trained.name];
    if (given != null) return {length: Number(given), from: 'parameters'};
    if (mark > 0) return {length: mark, from: 'mark'};
    return trained ? {length: Math.ceil(spanOf(table) / 4), from: 'table'} : null;
}

// What is said of variants in common: the value of each parameter that some of them require.
function commonOf(table, mark) {
    const {scheme, effective} = table,
        steering = steeringOf(scheme);
    const {trained, stretch} = rolesOf(scheme, steering);
    const span = spanOf(table),
        {length} = trainingOf(table, mark) ?? {length: span};
    const valueOf = ({name, type, unit}) => {
        if (name === trained?.name) return String(length);
        if (name === stretch?.name)
            return Number(effective[name]) > 1
                ? effective[name]
                : String(Number(Math.max(1, span / length).toPrecision(6)));
        return unit === 'positions' && type === 'integer' ? String(Math.ceil(span)) : null;
    };
    return dependents(scheme, steering)
        .filter((each) => demand(each) > 0)
        .map((parameter) => ({parameter, value: valueOf(parameter)}))
        .filter(({value}) => value != null);
}

// The choices of a table's scheme: [{choice, own: whether it is that of these settings, lists:
// whether it asks for lists of numbers, load()}]. load() resolves to {parameters, described},
// see `completed`, or rejects with a Problem.
export function variantsOf(table, mark) {
    const {scheme, settings, effective, described} = table;
    const steering = steeringOf(scheme);
    const own = {
        choice: steering ? effective[steering.name] : '',
        own: true,
        lists: false,
        load: async () => ({parameters: settings.parameters, described}),
    };
    if (!steering) return [own];
    const common = commonOf(table, mark);
    return steering.choices.map(String).map((choice) => {
        if (choice === own.choice) return own;
        const chosen = {...settings.parameters, [steering.name]: choice};
        const legal = (parameter) =>
            conditionsOf(scheme, parameter, effectiveOf(scheme, chosen)).legal;
        for (const {parameter, value} of common)
            if (chosen[parameter.name] == null && legal(parameter))
                chosen[parameter.name] = value;
        const lists = dependents(scheme, steering).some(
            ({type, when}) =>
                type === 'array' &&
                when.cases.some((each) => each.required && String(each.choice) === choice),
        );
        return {
            choice,
            own: false,
            lists,
            load: () => completed(scheme, chosen, steering.name),
        };
    });
}
