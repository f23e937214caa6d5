/* Reading the table of a file, whatever its format. */
#include "files/table_file.h"

#include <string.h>

bool api_table_file_view(const api_file *file, const api_table_wish *wish,
                         api_segment *ret_numbers, pe_view *ret_view,
                         char ret_name[API_SET_NAME_MAX + 1], pe_error *reterr)
{
    switch (wish->format) {
    case API_TABLE_NPY:
        return api_npy_view(file, ret_view, reterr);
    case API_TABLE_SAFETENSORS:
        return api_safetensors_view(file, wish->name, wish->otherwise, ret_view, ret_name,
                                    reterr);
    case API_TABLE_JSON:
        return api_json_view(file, wish, ret_numbers, ret_view, ret_name, reterr);
    case API_TABLE_CSV:
        return api_csv_view(file, wish, ret_numbers, ret_view, reterr);
    case API_TABLE_RAW:
        break;
    }
    return true;
}
