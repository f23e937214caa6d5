// Writes what is in the program as SPDX 2.3: node spdx.mjs SECONDS > FILE, in a folder with the
// program, posenc.h, the list of linked.sh and the page's package-lock.json.
import {createHash} from 'node:crypto';
import {readFileSync} from 'node:fs';

// What is linked of the source packages; Debian does not state it in a form for programs.
const LICENCES = {
    gcc: 'GPL-3.0-or-later WITH GCC-exception-3.1',
    glibc: 'LGPL-2.1-or-later',
    jansson: 'MIT',
    libmicrohttpd: 'LGPL-2.1-or-later',
    'libpng1.6': 'libpng-2.0',
    nettle: 'LGPL-3.0-or-later OR GPL-2.0-or-later',
    sqlite3: 'blessing',
    zlib: 'Zlib',
};

const read = (name) => readFileSync(name, 'utf8');
const digest = createHash('sha256').update(readFileSync('posenc-server')).digest('hex');
const version = /#define PE_VERSION\s+"(.+)"/.exec(read('posenc.h'))[1];

const identifier = (name, purl) =>
    `SPDXRef-${purl ? purl.split(/[:/]/)[1] : 'program'}-` +
    name.replace(/[^A-Za-z0-9.-]/g, '-');
const describe = (name, versionInfo, licence, purl) => ({
    name,
    SPDXID: identifier(name, purl),
    versionInfo,
    downloadLocation: 'NOASSERTION',
    filesAnalyzed: false,
    licenseConcluded: 'NOASSERTION',
    licenseDeclared: licence ?? 'NOASSERTION',
    copyrightText: 'NOASSERTION',
    ...(purl && {
        externalRefs: [
            {
                referenceCategory: 'PACKAGE-MANAGER',
                referenceType: 'purl',
                referenceLocator: purl,
            },
        ],
    }),
});

const program = {
    ...describe('posenc', version, 'MIT'),
    checksums: [{algorithm: 'SHA256', checksumValue: digest}],
};
const linked = read('linked.txt')
    .trim()
    .split('\n')
    .map((line) => {
        const [name, debian] = line.split(' ');
        return describe(
            name,
            debian,
            LICENCES[name.replace(/^gcc-\d+$/, 'gcc')],
            `pkg:deb/debian/${name}@${encodeURIComponent(debian)}?arch=source`,
        );
    });
const bundled = Object.entries(JSON.parse(read('package-lock.json')).packages)
    .filter(([path, {dev}]) => path && !dev)
    .map(([path, {version: each, license}]) => {
        const name = path.replace(/^.*node_modules\//, '');
        return describe(name, each, license, `pkg:npm/${name.replace('@', '%40')}@${each}`);
    });

const relate = (relationshipType) => (part) => ({
    spdxElementId: program.SPDXID,
    relationshipType,
    relatedSpdxElement: part.SPDXID,
});
console.log(
    JSON.stringify(
        {
            spdxVersion: 'SPDX-2.3',
            dataLicense: 'CC0-1.0',
            SPDXID: 'SPDXRef-DOCUMENT',
            name: `posenc-${version}`,
            documentNamespace: `urn:posenc:spdx:${digest}`,
            creationInfo: {
                created: new Date(1000 * Number(process.argv[2]))
                    .toISOString()
                    .replace(/\.\d+Z$/, 'Z'),
                creators: ['Tool: posenc-docker-spdx'],
            },
            packages: [program, ...linked, ...bundled],
            relationships: [
                {
                    spdxElementId: 'SPDXRef-DOCUMENT',
                    relationshipType: 'DESCRIBES',
                    relatedSpdxElement: program.SPDXID,
                },
                ...linked.map(relate('STATIC_LINK')),
                ...bundled.map(relate('CONTAINS')),
            ],
        },
        null,
        1,
    ),
);
