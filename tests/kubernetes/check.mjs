// Checks the manifests of docker/kubernetes without a cluster: node check.mjs SERVER FOLDER
//
// Values are held against the schemas of npm's kubernetes-models. These ask for every member
// that they know, so a member of ours that none asks for does not exist in Kubernetes. Then the
// names that files share are compared: labels, ports, volumes, settings. At last each member
// and each of these names is misspelt, one by one: all must be noticed.
import {execFileSync} from 'node:child_process';
import {existsSync, readFileSync, readdirSync} from 'node:fs';
import {join} from 'node:path';
import {loadAll} from 'js-yaml';

const [server, root] = process.argv.slice(2);
const help = execFileSync(server, ['--help'], {encoding: 'utf8'});
const SETTINGS = new Set(help.match(/POSENC_[A-Z_]+/g));
// maps whose members we name ourselves
const FREE = /\/(labels|annotations|matchLabels|requests|limits|pairs)$/;
const KUSTOMIZATION = {
    apiVersion: 1,
    kind: 1,
    labels: {pairs: 1},
    resources: 1,
    images: {name: 1, newName: 1, newTag: 1},
    configMapGenerator: {name: 1, literals: 1},
};

const isObject = (value) => value !== null && typeof value === 'object';
const copy = (value) => JSON.parse(JSON.stringify(value));

// ---- members ----

// An object that notes which members are asked for; `asked` maps paths to sets.
function watched(value, path, asked) {
    if (!isObject(value)) return value;
    asked.set(path, asked.get(path) ?? new Set());
    return new Proxy(value, {
        get(target, name) {
            asked.get(path).add(name);
            return watched(target[name], `${path}/${String(name)}`, asked);
        },
    });
}

function* paths(value, path = '') {
    if (!isObject(value)) return;
    for (const name of Object.keys(value)) {
        if (!Array.isArray(value) && !FREE.test(path)) yield [path, name];
        yield* paths(value[name], `${path}/${name}`);
    }
}

async function mistakesOfObject(object) {
    const file = new URL(
        `./node_modules/kubernetes-models/_schemas/${schemaOf(object)}.mjs`,
        import.meta.url,
    );
    if (!existsSync(file)) return [`there is no ${object.kind} in ${object.apiVersion}`];
    const {validate} = await import(file);
    const asked = new Map();
    const fits = validate(watched(object, '', asked));
    const mistakes = fits
        ? []
        : validate.errors.map(
              ({instancePath, message, keyword}) =>
                  `${object.kind}${instancePath}: ${message ?? keyword}`,
          );
    for (const [path, name] of paths(object))
        if (!asked.get(path)?.has(name))
            mistakes.push(`${object.kind}${path}/${name}: no such member`);
    return mistakes;
}

const schemaOf = ({apiVersion = '', kind = ''}) => {
    const [group, version = ''] = apiVersion.includes('/')
        ? apiVersion.split('/')
        : ['core', apiVersion];
    const upper = (text) => text.charAt(0).toUpperCase() + text.slice(1);
    return `IoK8sApi${upper(group.split('.')[0])}${upper(version)}${kind}`;
};

function mistakesOfKustomization(object, allowed = KUSTOMIZATION, path = 'Kustomization') {
    return Object.entries(object).flatMap(([name, value]) => {
        if (!(name in allowed)) return [`${path}/${name}: no such member`];
        if (allowed[name] === 1) return [];
        return value.flatMap((item) =>
            mistakesOfKustomization(item, allowed[name], `${path}/${name}`),
        );
    });
}

// ---- names that files share ----

const podOf = ({spec}) => spec?.template?.spec;
const containersOf = (pod) => [...(pod.containers ?? []), ...(pod.initContainers ?? [])];
const fits = (wanted = {}, labels = {}) =>
    Object.entries(wanted).every(([name, value]) => labels[name] === value);

function* mistakesOfNames({kustomization, objects}) {
    const pods = objects.filter(podOf);
    const labels = pods.map(({spec}) => spec.template.metadata.labels);
    const someFit = (wanted) => labels.some((each) => fits(wanted, each));
    const ports = new Set(
        pods.flatMap((each) =>
            containersOf(podOf(each)).flatMap(({ports: open = []}) =>
                open.map(({name}) => name),
            ),
        ),
    );
    const images = new Set((kustomization.images ?? []).map(({name}) => name));
    const maps = new Map(
        (kustomization.configMapGenerator ?? []).map(({name, literals}) => [name, literals]),
    );
    const names = new Set(objects.map(({kind, metadata}) => `${kind} ${metadata?.name}`));
    for (const {kind, metadata, spec} of objects) {
        if (!metadata?.name) yield `${kind}: no name`;
        const selector =
            kind === 'Service'
                ? spec.selector
                : (spec.selector?.matchLabels ?? spec.podSelector?.matchLabels);
        if (selector && !someFit(selector)) yield `${kind} ${metadata.name} selects nothing`;
        const open = [
            ...(kind === 'Service' ? spec.ports.map(({targetPort}) => targetPort) : []),
            ...(spec.ingress ?? []).flatMap(({ports: list}) => list.map(({port}) => port)),
        ];
        for (const port of open)
            if (!ports.has(port)) yield `${kind} ${metadata.name}: no port ${port}`;
        const target = spec.scaleTargetRef;
        if (target && !names.has(`${target.kind} ${target.name}`))
            yield `${kind} scales nothing`;
    }
    for (const literal of [...maps.values()].flat())
        if (!SETTINGS.has(literal.split('=')[0])) yield `no setting ${literal}`;
    for (const pod of pods.map(podOf)) {
        const volumes = new Set((pod.volumes ?? []).map(({name}) => name));
        for (const {selector} of (pod.topologySpreadConstraints ?? []).map(
            ({labelSelector}) => ({selector: labelSelector.matchLabels}),
        ))
            if (!someFit(selector)) yield 'a spread selects nothing';
        for (const {
            name,
            image,
            env = [],
            envFrom = [],
            volumeMounts = [],
            ports: own = [],
            ...probes
        } of containersOf(pod)) {
            if (!images.has(image)) yield `${name}: no image ${image}`;
            for (const {name: variable} of env)
                if (
                    variable.startsWith('POSENC_') &&
                    image === 'posenc' &&
                    !SETTINGS.has(variable)
                )
                    yield `${name}: no setting ${variable}`;
            for (const {configMapRef} of envFrom)
                if (!maps.has(configMapRef.name))
                    yield `${name}: no config map ${configMapRef.name}`;
            for (const {name: volume} of volumeMounts)
                if (!volumes.has(volume)) yield `${name}: no volume ${volume}`;
            for (const probe of [
                probes.startupProbe,
                probes.livenessProbe,
                probes.readinessProbe,
            ])
                if (probe?.httpGet && !own.some(({name: port}) => port === probe.httpGet.port))
                    yield `${name}: a probe of no port`;
        }
    }
}

async function mistakesOf(overlay) {
    const mistakes = mistakesOfKustomization(overlay.kustomization);
    for (const object of overlay.objects) mistakes.push(...(await mistakesOfObject(object)));
    if (mistakes.length > 0) return mistakes;
    return [...mistakesOfNames(overlay)];
}

// ---- reading, and misspelling ----

function read(folder) {
    const load = (file) => loadAll(readFileSync(join(folder, file), 'utf8')).filter(Boolean);
    const [kustomization] = load('kustomization.yaml');
    const files = readdirSync(folder).filter(
        (file) => file.endsWith('.yaml') && file !== 'kustomization.yaml',
    );
    if (files.sort().join() !== [...kustomization.resources].sort().join())
        throw new Error(
            `${folder} has ${files}, kustomization.yaml names ${kustomization.resources}`,
        );
    return {kustomization, objects: files.flatMap(load)};
}

// Every overlay with one member misspelt, or one name that another file shares.
function* misspelt(overlay) {
    const all = [overlay.kustomization, ...overlay.objects];
    for (const [i, object] of all.entries())
        for (const [path, name] of paths(object)) {
            const changed = copy(all);
            const place = path
                .split('/')
                .slice(1)
                .reduce((at, step) => at[step], changed[i]);
            place[`${name}x`] = place[name];
            delete place[name];
            yield {
                what: `${object.kind}${path}/${name}`,
                overlay: {kustomization: changed[0], objects: changed.slice(1)},
            };
        }
    for (const [i, object] of overlay.objects.entries())
        for (const path of [
            'spec/scaleTargetRef/name',
            'spec/template/spec/containers/0/image',
            'spec/template/spec/containers/0/volumeMounts/0/name',
            'spec/template/spec/containers/0/envFrom/0/configMapRef/name',
            'spec/template/spec/containers/0/ports/0/name',
            'spec/template/spec/initContainers/0/env/0/name',
            'spec/ports/0/targetPort',
            'spec/template/metadata/labels/app.kubernetes.io~1name',
        ]) {
            const changed = copy(overlay);
            const steps = path.split('/').map((step) => step.replace('~1', '/')),
                last = steps.pop();
            const place = steps.reduce((at, step) => at?.[step], changed.objects[i]);
            if (
                place?.[last] === undefined ||
                (path.includes('labels') && object.kind === 'Job')
            )
                continue;
            place[last] += 'x';
            yield {what: `the value of ${object.kind}/${path}`, overlay: changed};
        }
}

let wrong = 0;
for (const name of ['fleet', 'sidecar']) {
    const overlay = read(join(root, name));
    const mistakes = await mistakesOf(overlay);
    for (const mistake of mistakes) console.error(`${name}: ${mistake}`);
    let planted = 0,
        noticed = 0;
    for (const {what, overlay: changed} of misspelt(overlay)) {
        planted++;
        let found;
        try {
            found = (await mistakesOf(changed)).length > 0;
        } catch {
            found = true;
        }
        if (found) noticed++;
        else console.error(`${name}: nobody notices a misspelt ${what}`);
    }
    console.log(
        `kubernetes: ${name}: ${overlay.objects.length} objects, ${mistakes.length} ` +
            `mistakes; ${planted} misspellings planted, ${noticed} noticed`,
    );
    wrong += mistakes.length + planted - noticed;
}
process.exit(wrong ? 1 : 0);
