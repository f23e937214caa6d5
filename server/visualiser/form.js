// The form of one side, drawn from a scheme's document: every parameter, preset and help text.
import {h} from './dom.js';
import {complainIn, createField, createPresets, showField} from './fields.js';
import {conditionsOf, effectiveOf, isEssential, parameterOf} from './schema.js';

// `change(parameters, {kind, name, held, done})` hears of every edit: 'slide' or 'settings', of
// which parameter, whether the same gesture goes on, and whether it has ended.
export class Form {
    constructor(side, change) {
        this.side = side;
        this.change = change;
        this.gesture = false;
        // fields have it as their description
        this.help = h('p', {class: 'help-line', 'aria-hidden': 'true', hidden: true});
        this.element = h('div', {
            class: 'form',
            onfocusin: ({target}) => this.explain(target.closest('.field')),
            onfocusout: () => this.explain(null),
        });
        this.listener = {
            edit: this.edit.bind(this),
            rest: () => {
                this.gesture = false;
            },
        };
    }

    explain(row) {
        const text = row?.querySelector('.help')?.textContent ?? '';
        this.help.textContent = text;
        this.help.hidden = !text;
    }

    edit(name, text, done, kind = 'settings') {
        const parameters = {...this.settings.parameters};
        if (text === '') delete parameters[name];
        else parameters[name] = text;
        this.settings = {...this.settings, parameters};
        this.refresh();
        this.change(parameters, {kind, name, held: this.gesture, done});
        this.gesture = !done;
    }

    refresh() {
        const {scheme, settings, other, more} = this;
        const effective = effectiveOf(scheme, settings.parameters);
        const theirs = other && effectiveOf(other.scheme, other.parameters);
        for (const field of this.fields) {
            const {parameter, made} = field,
                {name} = parameter;
            const open = {...settings.parameters, [name]: undefined};
            showField(field, {
                usual: made.standard && effectiveOf(scheme, open)[name],
                given: settings.parameters[name] ?? '',
                conditions: conditionsOf(scheme, parameter, effective),
                effective,
                theirs:
                    theirs && parameterOf(other.scheme, name) ? theirs[name] : effective[name],
            });
        }
        const rest = this.fields.filter(({row}) => more.contains(row) && !row.hidden).length;
        more.hidden = rest === 0;
        more.querySelector('summary').textContent = `More (${rest})`;
    }

    // Open the part with what is given, wrong, or different from the other side.
    reveal() {
        const marked = ({parameter: {name}, row, error}) =>
            this.more.contains(row) &&
            (this.settings.parameters[name] != null ||
                !error.hidden ||
                row.classList.contains('differs'));
        if (this.fields.some(marked)) this.more.open = true;
    }

    draw() {
        const {scheme, side, listener} = this;
        const presets =
            scheme.presets.length > 0 ? [createPresets(scheme.presets, side, listener)] : [];
        const fields = scheme.parameters.map((parameter) =>
            createField(parameter, side, listener),
        );
        const rowsOf = (essential) =>
            fields
                .filter(({parameter}) => isEssential(scheme, parameter) === essential)
                .map(({row}) => row);
        this.fields = [...presets, ...fields];
        this.general = h('p', {class: 'error general', hidden: true, id: `${side}-problem`});
        this.more = h('details', {class: 'more'}, h('summary', {}, 'More'), ...rowsOf(false));
        this.element.replaceChildren(
            this.general,
            ...presets.map(({row}) => row),
            ...rowsOf(true),
            this.more,
            this.help,
        );
    }

    // Put a problem, or null, beside its fields, and what concerns none of them above.
    complain(problem) {
        const {fields, general, listener} = this;
        for (const field of fields)
            complainIn(field, problem?.of(field.parameter.name), listener);
        const told = fields.some(({parameter}) => problem?.of(parameter.name));
        const strangers =
            problem?.document.errors?.filter(
                ({parameter}) => !fields.some((each) => each.parameter.name === parameter),
            ) ?? [];
        general.hidden = !problem || (told && strangers.length === 0);
        general.replaceChildren();
        if (told) this.reveal();
        if (general.hidden) return;
        if (strangers.length === 0) general.append(problem.message);
        else general.append(strangers.map(({message}) => message).join(' '));
    }

    goTo(name) {
        const control = this.fields.find(({parameter}) => parameter.name === name)?.made
            .control;
        control?.focus();
        control?.select?.();
    }

    // `other` are settings to tell differences from, {scheme, parameters}.
    show(scheme, settings, other = null) {
        const drawn = this.scheme === scheme;
        Object.assign(this, {scheme, settings, other});
        if (!drawn) this.draw();
        this.refresh();
        if (!drawn) this.reveal();
    }
}
