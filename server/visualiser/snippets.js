// Code that fetches a table, to be copied: in each language one function, each checked by
// running it.

// A text in single quotes, for a shell, and for Python and JavaScript. Texts have no line
// breaks.
const shell = (text) => `'${text.replace(/'/g, `'\\''`)}'`;
const literal = (text) => `'${text.replace(/[\\']/g, '\\$&')}'`;

// npy has no bf16: there curl takes the form that names it, and Python the bits.
const curl = ({dtype, url}) =>
    `curl -fOJ ${shell(url(dtype === 'bf16' ? 'safetensors' : 'npy'))}\n`;

const pythonBits = (url, imports, array) => `import urllib.request
${imports}

with urllib.request.urlopen(${literal(url('raw'))}) as reply:
    shape = [int(extent) for extent in reply.headers['Tensor-Shape'].split(',')]
${array}
`;

function numpy({dtype, url}) {
    if (dtype === 'bf16')
        return pythonBits(
            url,
            'import numpy as np',
            `    bits = np.frombuffer(reply.read(), '<u2').reshape(shape)
table = (bits.astype('<u4') << 16).view('<f4')  # float32 holds every bf16`,
        );
    return `import io
import urllib.request
import numpy as np

with urllib.request.urlopen(${literal(url('npy'))}) as reply:
    table = np.load(io.BytesIO(reply.read()))
`;
}

function torch({dtype, url}) {
    if (dtype === 'bf16')
        return pythonBits(
            url,
            'import torch',
            '    table = torch.frombuffer(bytearray(reply.read()), ' +
                'dtype=torch.bfloat16).reshape(shape)',
        );
    return `import io
import urllib.request
import numpy as np
import torch

with urllib.request.urlopen(${literal(url('npy'))}) as reply:
    table = torch.from_numpy(np.load(io.BytesIO(reply.read())))
`;
}

const HALF = `const half = (bits) => { // float32 holds every f16
  const exponent = (bits >> 10) & 31, fraction = bits & 1023;
  const size = exponent === 31 ? (fraction ? NaN : Infinity)
    : exponent ? (1024 + fraction) * 2 ** (exponent - 25) : fraction * 2 ** -24;
  return bits >> 15 ? -size : size;
};
`;
const ARRAYS = {
    f32: 'new Float32Array(buffer);',
    f64: 'new Float64Array(buffer);',
    i32: 'new Int32Array(buffer);',
    f16: 'Float32Array.from(new Uint16Array(buffer), half);',
    bf16:
        'new Float32Array(Uint32Array.from(new Uint16Array(buffer), ' +
        '(bits) => bits << 16).buffer); // holds every bf16',
};

// A module, for browsers and node.
const javascript = (
    {dtype, url},
    ask = 'fetch',
) => `${dtype === 'f16' ? HALF : ''}const reply = await ${ask}(${literal(url('raw'))});
if (!reply.ok) throw new Error(await reply.text());
const shape = reply.headers.get('Tensor-Shape').split(',').map(Number);
const buffer = await reply.arrayBuffer();
const table = ${ARRAYS[dtype]}
`;

// ---- without a server ----

const command = ({dtype, url}) => {
    const format = dtype === 'bf16' ? 'safetensors' : 'npy';
    return `# posenc: the program that \`make install\` of its source installs
posenc ${shell(url(format))} > table.${format}
`;
};

const packaged = (table) => `import {open} from 'posenc'; // npm install posenc-VERSION.tgz

const posenc = await open({worker: false});
${javascript(table, 'posenc.fetch')}`;

function python({dtype, shape, url}) {
    const bits = dtype === 'bf16';
    return `# posenc: the program that \`make install\` of its source installs
import io
import subprocess
import numpy as np

target = ${literal(url(bits ? 'raw' : 'npy'))}
reply = subprocess.run(['posenc', target], stdout=subprocess.PIPE, check=True).stdout
${
    bits
        ? `bits = np.frombuffer(reply, '<u2').reshape([${shape.join(', ')}])
table = (bits.astype('<u4') << 16).view('<f4')  # float32 holds every bf16`
        : 'table = np.load(io.BytesIO(reply))'
}
`;
}

export const SITE_SNIPPETS = [
    {name: 'command', write: command},
    {name: 'npm', write: packaged},
    {name: 'Python', write: python},
];

// write({dtype, shape, url(format)}) gives the code for a tensor of that type at these
// addresses, which on a site without a server are paths.
export const SNIPPETS = [
    {name: 'curl', write: curl},
    {name: 'numpy', write: numpy},
    {name: 'torch', write: torch},
    {name: 'JavaScript', write: javascript},
];
