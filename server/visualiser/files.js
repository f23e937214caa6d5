// Files that are dropped on the page or chosen: what becomes of them, by their names.
import {isTableFile} from './table_file.js';

const PICKLED =
    'Such a file may run code when it is read, so posenc does not read it. Save the table by ' +
    'itself, in Python: numpy.save("table.npy", torch.load("FILE", weights_only=True)["NAME"]' +
    '.float().numpy()), or all tensors by safetensors.torch.save_file, and drop that.';
const TEXT =
    'A table comes as numbers with their types. In Python: numpy.save("table.npy", ' +
    'numpy.loadtxt("FILE")), and drop that.';
const ELSE =
    'Drop a config.json or a .gguf file for the plan of a model, or numbers as .npy, ' +
    '.safetensors, .csv or .json to learn what made that table.';
const ADVICE = [
    [/\.(pt|pth|bin|ckpt|pkl|pickle)$/i, PICKLED],
    [/\.(txt|dat|tsv)$/i, TEXT],
    [/\.npz$/i, 'It holds several arrays: numpy.save each of them as an .npy file.'],
    [/(?:)/, ELSE],
];

export const isModelFile = async (file) =>
    /\.gguf$/i.test(file.name) || (/\.json$/i.test(file.name) && !(await isTableFile(file)));

// What to do with a file that can be neither planned nor identified, as a sentence.
export const adviceOn = ({name}) =>
    ADVICE.find(([pattern]) => pattern.test(name))[1].replace('FILE', name);

// Opens what is dropped anywhere: `model` and `identify` take files by open(file), and forget
// what they have shown by clear(). Where a model shows a trained table, that is looked for in a
// file.
export function takeDrops({model, identify}) {
    document.addEventListener('dragover', (event) => {
        if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    document.addEventListener('drop', async (event) => {
        const file = event.dataTransfer?.files[0];
        if (!file) return;
        event.preventDefault();
        const isModel = await isModelFile(file);
        const [one, other] = isModel ? [model, identify] : [identify, model];
        const shape = model.trainedShape();
        other.clear();
        one.open(file, shape);
    });
}
