// The icon of the tab: what is shown, small.
import {scaleOf} from './colours.js';
import {paint, spansOf} from './raster.js';

const SIDE = 32; // pixels
const KEPT = 64; // addresses, since a browser may still be reading those before the last

// `link` is the <link rel="icon">; show(table, colours) is called with what is on the screen.
export function createFavicon(link) {
    const addresses = [];
    let shown = '';
    return {
        show(table, colours) {
            const {settings, tensor, slice, firstRow} = table;
            const key = JSON.stringify([settings, tensor.name, slice, firstRow, colours.theme]);
            if (key === shown) return;
            shown = key;
            const canvas = document.createElement('canvas');
            canvas.width = canvas.height = SIDE;
            const context = canvas.getContext('2d');
            const image = context.createImageData(SIDE, SIDE);
            const [rows, columns] = [Math.min(table.rows, SIDE), Math.min(table.columns, SIDE)];
            const spans = (extent) => spansOf(SIDE, [0, extent], extent);
            paint(image, table, scaleOf(colours, [table.extent]), spans(columns), spans(rows));
            context.putImageData(image, 0, 0);
            canvas.toBlob((blob) => {
                if (key !== shown || !blob) return;
                addresses.push(URL.createObjectURL(blob));
                if (addresses.length > KEPT) URL.revokeObjectURL(addresses.shift());
                link.type = blob.type;
                link.href = addresses.at(-1);
            });
        },
    };
}
