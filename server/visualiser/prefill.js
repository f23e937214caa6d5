// Choices that ask for further values: which these are, and values to go on from.
import {Problem, describe} from './api.js';
import {conditionsOf, effectiveOf} from './schema.js';

const TRIES = 3;

// Whether other parameters depend on this one.
export const steers = (scheme, name) =>
    scheme.parameters.some(({when}) => when?.parameter === name);

const SOME = 64; // positions of a model that was trained on few

const without = (parameters, unwanted) =>
    Object.fromEntries(Object.entries(parameters).filter(([name]) => !unwanted(name)));

// A value for a parameter that has no default here: that of a preset with the same choice, the
// size of the table for a position, or what another choice has as its default.
function guess(scheme, parameter, effective, lists) {
    const {name, type, when, unit, minimum = 0} = parameter;
    // the first list changes nothing, the next one does
    if (type === 'array') return String(4 ** lists.indexOf(name));
    const steering = when?.parameter;
    const preset =
        steering &&
        scheme.presets.find(
            ({values}) => values[steering] === effective[steering] && values[name] != null,
        );
    if (preset) return String(preset.values[name]);
    if (unit === 'positions') return effective.length ?? String(Math.max(minimum, SOME));
    const other = when?.cases.map((each) => each.default).find((value) => value > minimum);
    return String(other ?? Math.max(minimum, 1));
}

// The parameters after a choice of `name`: without those that the choice forbids, and with
// values for those that it asks for, first by the scheme's document, then by what the service
// says is wrong. `added` names the new ones, `described` is what the service makes of them, or
// null.
export async function completed(scheme, chosen, name) {
    const effective = effectiveOf(scheme, chosen);
    const rowOf = (each) => scheme.parameters.find((parameter) => parameter.name === each);
    const depends = (each) => rowOf(each)?.when?.parameter === name;
    let parameters = without(
        chosen,
        (each) => depends(each) && !conditionsOf(scheme, rowOf(each), effective).legal,
    );
    const lists = scheme.parameters
        .filter((each) => each.type === 'array' && depends(each.name))
        .map((each) => each.name);
    const added = new Set();
    const add = (each, text) => {
        parameters = {...parameters, [each]: text};
        added.add(each);
    };
    for (const parameter of scheme.parameters)
        if (
            depends(parameter.name) &&
            conditionsOf(scheme, parameter, effective).required &&
            effective[parameter.name] == null
        )
            add(parameter.name, guess(scheme, parameter, effective, lists));
    let described = null;
    for (let i = 0; i < TRIES; i++) {
        const problem = await describe({scheme: scheme.name, parameters}).then(
            (found) => {
                described = found;
            },
            (error) => error,
        );
        if (!(problem instanceof Problem)) break;
        for (const {parameter: each, given, allowed} of problem.document.errors ?? []) {
            if (!depends(each)) continue;
            const items = /\blist of (\d+) items/.exec(allowed)?.[1];
            if (items && added.has(each))
                add(
                    each,
                    Array(Number(items))
                        .fill(guess(scheme, rowOf(each), effective, lists))
                        .join(),
                );
            else if (given == null) add(each, guess(scheme, rowOf(each), effective, lists));
        }
    }
    return {parameters, added: [...added], described};
}
