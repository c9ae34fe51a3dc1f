// Does the writer of traces write what viewers read, whatever ends it?
#include "host/timing/timeline/trace_writer.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "host/core/error.h"
#include "host/core/temporary_folder.h"
#include "tests/cli/trace_file.h"

namespace nearwarp::testing {
namespace {

using timeline::Sample;
using timeline::TraceWriter;

TEST(TraceWriter, EventsAreReadAsTheyWereWritten) {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "trace.json").string();
  TraceWriter out(path);
  out.process(3, "a \"quoted\" process\n", 3);
  const Sample samples[] = {{"one", 5}, {"two", 12'345}};
  out.counter(3, "counter", 1234, samples);
  out.span(3, 7, "span", 1000, 1001, "detail");
  out.arrow(1, 3, 7, 1000, 3, 8, 1005);
  out.close();
  const TraceFile file = read_trace(path);
  EXPECT_EQ(file.processes.at(3), "a \"quoted\" process\n");
  const std::string counter = file.processes.at(3) + "/counter/";
  EXPECT_EQ(file.series.at(counter + "one"), (Series{{1234, 0.05}}));
  EXPECT_EQ(file.series.at(counter + "two"), (Series{{1234, 123.45}}));
  const TraceSpan& span = file.spans.at({3, 7}).at(0);
  EXPECT_EQ(span.begin, 1000u);
  EXPECT_EQ(span.end, 1001u);
  EXPECT_EQ(file.arrows, 1u);
  EXPECT_EQ(out.bytes(), std::filesystem::file_size(path));
}

TEST(TraceWriter, AnEmptyTraceIsOne) {
  const TemporaryFolder folder;
  TraceWriter out((folder.path() / "trace.json").string());
  out.close();
  EXPECT_TRUE(read_trace((folder.path() / "trace.json").string()).series.empty());
}

TEST(TraceWriter, WhatCannotBeWrittenIsAnError) {
  EXPECT_THROW(TraceWriter("/nonexistent/trace.json"), Error);
  TraceWriter full("/dev/full");
  EXPECT_THROW(full.close(), Error);
}

}  // namespace
}  // namespace nearwarp::testing
