// A library that has the name of one of nearwarp's own and is another: it asks the driver for what
// has no documents.
extern "C" int ask_for_tables(int (*get_export_table)(const void**, const void*)) {
  const unsigned char id[16] = {};
  const void* table = nullptr;
  const int status = get_export_table(&table, id);
  return status != 0        ? status
         : table != nullptr ? -1
                            : 0;  // not the caller's last act, which is who asks
}
