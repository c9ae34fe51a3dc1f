// Are the CPU references of the workloads right? (They are what the device is compared with.)
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "bench/workloads/bfs/graph.h"
#include "bench/workloads/common/first_round.h"
#include "bench/workloads/common/random.h"
#include "bench/workloads/graphs/generator.h"
#include "bench/workloads/heartwall/reference.h"
#include "bench/workloads/heartwall/reference_original.h"
#include "bench/workloads/kmeans/reference.h"
#include "bench/workloads/libor/reference.h"
#include "bench/workloads/md/neighbours.h"
#include "bench/workloads/mummer/suffix_tree.h"
#include "bench/workloads/ray/reference.h"
#include "bench/workloads/ray/reference_original.h"
#include "host/core/error.h"

namespace nearwarp::workloads {
namespace {

TEST(Random, SameNumbersOnEveryMachine) {
  EXPECT_EQ(random_bits(0, 0), random_bits(0, 0));
  EXPECT_NE(random_bits(0, 0), random_bits(0, 1));
  EXPECT_NE(random_bits(0, 0), random_bits(1, 0));
  double sum = 0, squares = 0;
  for (int i = 0; i < 10'000; ++i) {
    EXPECT_LT(random_below(7, i, 13), 13u);
    const double x = random_normal(8, i);
    sum += x;
    squares += x * x;
  }
  EXPECT_NEAR(sum / 10'000, 0.0, 0.03);
  EXPECT_NEAR(squares / 10'000, 1.0, 0.05);
}

TEST(FirstRound, SpreadsNeighbouringWarps) {
  // 64 warps over 64 rounds: where each is on its own in a perfect spread, few may meet.
  std::vector<int> warps(64, 0);
  for (unsigned warp = 0; warp < 64; ++warp) {
    ASSERT_LT(first_round(warp, 1000), 1000u);
    EXPECT_EQ(first_round(warp, 1), 0u);
    ++warps[first_round(warp, 64)];
  }
  EXPECT_LE(*std::max_element(warps.begin(), warps.end()), 5);
}

std::vector<float> shocks_of_path(int count, int path) {
  std::vector<float> shocks;
  for (int n = 0; n < count; ++n) shocks.push_back(random_normal(9, path * 1000 + n));
  return shocks;
}

TEST(Libor, AdjointEqualsFiniteDifferences) {
  const LiborModel model = libor_model(20);
  int paths_in_the_money = 0;
  for (int p = 0; p < 20; ++p) {
    const std::vector<double> curve(model.num_rates, 0.05);
    const std::vector<float> shocks = shocks_of_path(model.num_fixings, p);
    const LiborPath<double> path = libor_adjoint(model, curve, shocks);
    EXPECT_NEAR(path.value, libor_value(model, curve, shocks), 1e-12 * (1 + path.value));
    paths_in_the_money += path.value > 0;
    for (int i = 0; i < model.num_rates; ++i) {
      std::vector<double> up = curve, down = curve;
      up[i] += 1e-7;
      down[i] -= 1e-7;
      const double slope =
          (libor_value(model, up, shocks) - libor_value(model, down, shocks)) / 2e-7;
      EXPECT_NEAR(path.adjoint[i], slope, 1e-4 * (1 + std::fabs(slope)))
          << "path " << p << " rate " << i;
    }
  }
  EXPECT_GT(paths_in_the_money, 3);
  EXPECT_LT(paths_in_the_money, 20);
}

TEST(Kmeans, LloydNeverIncreasesTheCost) {
  const KmeansProblem full = kmeans_problem(1000, 20);
  double last = 1e30;
  for (int iterations = 1; iterations <= 6; ++iterations) {
    KmeansProblem problem = full;
    problem.max_iterations = iterations;
    const KmeansState state = kmeans_reference(problem);
    double cost = 0;
    for (int p = 0; p < problem.num_points; ++p) {
      ASSERT_GE(state.membership[p], 0);
      ASSERT_LT(state.membership[p], problem.num_clusters);
      for (int f = 0; f < problem.num_features; ++f) {
        const double d = problem.points[size_t(p) * problem.num_features + f] -
                         state.centers[state.membership[p] * problem.num_features + f];
        cost += d * d;
      }
    }
    EXPECT_LE(cost, last * (1 + 1e-6));
    last = cost;
  }
}

TEST(Kmeans, HostAndDeviceFindTheSameClusters) {
  const KmeansProblem problem = kmeans_problem(1000, 4);
  const KmeansState device = kmeans_reference(problem), host = kmeans_host_reference(problem);
  int different = 0;
  for (int p = 0; p < problem.num_points; ++p)
    different += device.membership[p] != host.membership[p];
  EXPECT_LT(different, 10);  // the sums differ in order only
  for (size_t i = 0; i < host.centers.size(); ++i)
    EXPECT_NEAR(device.centers[i], host.centers[i], 1e-2);
}

TEST(Kmeans, CentresAreMeans) {
  const KmeansProblem problem = kmeans_problem(777, 3);
  const KmeansState state = kmeans_reference(problem);
  EXPECT_EQ(state.iterations, 3);
  // The last iteration ends with an update, so the centres belong to the assignment.
  for (int c = 0; c < problem.num_clusters; ++c) {
    double sum = 0, count = 0;
    for (int p = 0; p < problem.num_points; ++p) {
      if (state.membership[p] != c) continue;
      sum += problem.points[size_t(p) * problem.num_features];
      ++count;
    }
    if (count > 0) {
      EXPECT_NEAR(state.centers[c * problem.num_features], sum / count, 1e-5);
    }
  }
}

void expect_valid(const Graph& graph) {
  ASSERT_EQ(graph.row_start.size(), size_t(graph.num_vertices) + 1);
  EXPECT_EQ(graph.row_start.front(), 0);
  EXPECT_EQ(size_t(graph.row_start.back()), graph.edges.size());
  EXPECT_TRUE(std::is_sorted(graph.row_start.begin(), graph.row_start.end()));
  for (int32_t e : graph.edges) ASSERT_TRUE(e >= 0 && e < graph.num_vertices);
}

TEST(Graphs, UniformAndRmat) {
  const Graph uniform = uniform_graph(1 << 12, 4), rmat = rmat_graph(1 << 12, 4);
  expect_valid(uniform);
  expect_valid(rmat);
  EXPECT_EQ(uniform.edges.size(), size_t{8} << 12);
  EXPECT_EQ(rmat.edges.size(), size_t{8} << 12);
  const auto degree = [](const Graph& g, int v) { return g.row_start[v + 1] - g.row_start[v]; };
  EXPECT_LT(degree(uniform, busiest_vertex(uniform)), 40);
  // R-MAT's distribution is skewed: the expected degree of the vertex whose number began as 0 is
  // 8 (2 * 0.6)^12 = 71, and the variance is a multiple of the uniform graph's.
  EXPECT_GT(degree(rmat, busiest_vertex(rmat)), 50);
  const auto variance = [&](const Graph& g) {
    double squares = 0;
    for (int v = 0; v < g.num_vertices; ++v) squares += std::pow(degree(g, v) - 8.0, 2);
    return squares / g.num_vertices;
  };
  EXPECT_GT(variance(rmat), 5 * variance(uniform));
}

TEST(Graphs, OfRodiniaHaveSixEdgesOnAverage) {
  const Graph graph = rodinia_graph(10'000);
  expect_valid(graph);
  EXPECT_NEAR(static_cast<double>(graph.edges.size()) / graph.num_vertices, 6.0, 0.1);
  for (int v = 0; v < graph.num_vertices; ++v)
    ASSERT_GE(graph.row_start[v + 1] - graph.row_start[v], 2);
}

TEST(Graphs, DistancesDifferByOneAlongEdges) {
  const Graph graph = rmat_graph(1 << 10, 4);
  const int source = busiest_vertex(graph);
  const std::vector<int32_t> distance = breadth_first(graph, source);
  EXPECT_EQ(distance[source], 0);
  int reached = 0;
  for (int v = 0; v < graph.num_vertices; ++v) {
    if (distance[v] < 0) continue;
    ++reached;
    int nearest = graph.num_vertices;
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e)
      nearest = std::min(nearest, distance[graph.edges[e]]);
    if (v != source) {
      EXPECT_EQ(distance[v], nearest + 1);
    }
  }
  EXPECT_GT(reached, graph.num_vertices / 2);
}

TEST(Heartwall, PointsFollowTheFilm) {
  const HeartFilm film = {192, 128, 8};
  const HeartTracks start = heart_start(film, heart_frame(film, 0), 6, 3);
  HeartTracks tracks = start;
  for (int t = 1; t < film.num_frames; ++t) {
    heart_track(film, heart_frame(film, t), tracks);
    for (size_t p = 0; p < start.points.size(); p += 2) {
      EXPECT_EQ(tracks.points[p] - start.points[p], heart_shift_x(t)) << "frame " << t;
      EXPECT_EQ(tracks.points[p + 1] - start.points[p + 1], heart_shift_y(t)) << "frame " << t;
    }
  }
}

TEST(Heartwall, OriginalFollowsTheFilm) {
  const HeartFilm film = {160, 128, 11};
  const HeartSizes sizes = {.t = 4, .s = 14};
  const HeartWalls start = heart_walls_start(film, sizes);
  HeartWalls walls = start;
  // Two frames only: the third moves back by five pixels, and the mask of ten reaches four that
  // way.
  for (int t = 0; t < 3; ++t) {
    heart_walls_track(film, sizes, heart_frame(film, t), t, walls);
    EXPECT_EQ(walls.points, start.points);
    for (int i = 0; i < kHeartPoints; ++i) {
      EXPECT_EQ(walls.places[2 * i] - start.points[2 * i], heart_shift_x(t)) << "frame " << t;
      EXPECT_EQ(walls.places[2 * i + 1] - start.points[2 * i + 1], heart_shift_y(t));
    }
  }
  // Every tenth frame moves windows and templates.
  const std::vector<float> templates = walls.templates;
  heart_walls_track(film, sizes, heart_frame(film, 2), 10, walls);
  EXPECT_EQ(walls.points, walls.places);
  EXPECT_NE(walls.points, start.points);
  EXPECT_NE(walls.templates, templates);
}

TEST(Graphs, BlocksVaryAsAskedFor) {
  for (const int percent : {10, 30, 100, 300}) {
    const Graph graph = graph_of_variation(1 << 14, kGraphPairsPerVertex, percent);
    EXPECT_NEAR(variation_of_blocks(graph), percent / 100.0, 0.04 * percent / 100.0) << percent;
    // Double edges are dropped, and few are drawn.
    EXPECT_NEAR(static_cast<double>(graph.edges.size()), 2.0 * kGraphPairsPerVertex * (1 << 14),
                0.04 * graph.edges.size())
        << percent;
  }
  EXPECT_THROW(graph_of_variation(1 << 13, kGraphPairsPerVertex, 300), Error);
  EXPECT_THROW(graph_of_variation((1 << 13) + 1, kGraphPairsPerVertex, 10), Error);
}

TEST(Graphs, AreUndirectedAndSimple) {
  const Graph graph = graph_of_variation(1 << 12, kGraphPairsPerVertex, 100);
  std::vector<std::pair<int32_t, int32_t>> there, back;
  for (int v = 0; v < graph.num_vertices; ++v) {
    for (int e = graph.row_start[v]; e < graph.row_start[v + 1]; ++e) {
      EXPECT_NE(graph.edges[e], v);
      EXPECT_TRUE(e == graph.row_start[v] || graph.edges[e - 1] < graph.edges[e]);
      there.emplace_back(v, graph.edges[e]);
      back.emplace_back(graph.edges[e], v);
    }
  }
  std::sort(back.begin(), back.end());
  EXPECT_EQ(there, back);
}

TEST(Md, NeighboursAreTheNearest) {
  for (const int count : {kMdNeighbours + 1, 700, 3000}) {
    const std::vector<MdAtom> atoms = md_atoms(count);
    const std::vector<int32_t> neighbours = md_neighbours(atoms);
    ASSERT_EQ(neighbours.size(), size_t(count) * kMdNeighbours);
    for (int i = 0; i < count; i += 37) {
      std::vector<std::pair<float, int32_t>> all;
      for (int other = 0; other < count; ++other) {
        if (other != i) all.emplace_back(md_distance_squared(atoms[i], atoms[other]), other);
      }
      std::sort(all.begin(), all.end());
      for (int j = 0; j < kMdNeighbours; ++j)
        ASSERT_EQ(neighbours[size_t(j) * count + i], all[j].second) << count << " atoms, " << i;
    }
  }
}

/// Random symbols of which the first `kinds` occur; few kinds repeat much.
std::vector<uint8_t> symbols(uint64_t stream, int count, uint32_t kinds) {
  std::vector<uint8_t> text(count);
  for (int i = 0; i < count; ++i) text[i] = static_cast<uint8_t>(random_below(stream, i, kinds));
  return text;
}

TEST(SuffixTree, HasEverySuffixAndLinks) {
  for (const uint32_t kinds : {1u, 2u, 4u}) {
    const std::vector<uint8_t> text = symbols(20, 500, kinds);
    const std::vector<SuffixNode> nodes = suffix_tree(text);
    EXPECT_LE(nodes.size(), 2 * text.size());
    std::vector<int> depth(nodes.size(), 0);
    for (size_t start = 0; start < text.size(); ++start) {
      size_t at = start;
      for (int32_t node = kSuffixRoot; at < text.size();) {
        const int32_t next = nodes[node].child[text[at]];
        ASSERT_NE(next, kNoSuffixNode);
        ASSERT_EQ(nodes[next].parent, node);
        depth[next] = depth[node] + nodes[next].end - nodes[next].start;
        for (int32_t i = nodes[next].start; i < nodes[next].end && at < text.size(); ++i, ++at)
          ASSERT_EQ(text[i], text[at]);
        node = next;
      }
    }
    for (const SuffixNode& node : nodes) {
      const bool inner = *std::max_element(node.child, node.child + 4) != kNoSuffixNode;
      if (!inner || &node == nodes.data()) continue;
      EXPECT_EQ(depth[node.link], depth[&node - nodes.data()] - 1);
    }
  }
}

TEST(SuffixTree, LongestMatchesAreThoseOfALookEverywhere) {
  const std::vector<uint8_t> text = symbols(21, 300, 3), query = symbols(22, 60, 3);
  const std::vector<int32_t> found =
      longest_matches(text, sorted_suffixes(text), query.data(), static_cast<int>(query.size()));
  ASSERT_EQ(found.size(), query.size());
  for (size_t start = 0; start < query.size(); ++start) {
    int64_t longest = 0;
    for (size_t at = 0; at < text.size(); ++at) {
      longest = std::max(
          longest,
          std::mismatch(query.begin() + start, query.end(), text.begin() + at, text.end()).first -
              (query.begin() + start));
    }
    EXPECT_EQ(found[start], longest) << start;
  }
}

TEST(Ray, SkyAboveFloorBelow) {
  RayScene scene = ray_scene(64, 64, 256);
  scene.spheres.clear();
  const auto reds = [&scene](int y) {
    std::vector<float> row;
    for (const RayColour& colour : ray_reference_row(scene, y)) row.push_back(colour.red);
    return row;
  };
  const std::vector<float> top = reds(0), end = reds(63);
  for (int x = 1; x < 32; ++x) {
    EXPECT_GT(top[x], 0.3f);         // looks up
    EXPECT_EQ(top[x], top[64 - x]);  // mirror image around column 32
  }
  // Without spheres the floor is lit everywhere: its colour, and the sky reflected once.
  scene.texture.assign(scene.texture.size(), 0.5f);
  const float lit = 0.6f * 0.5f * (0.2f + 0.8f * 0.8f);
  for (float value : reds(63)) {
    EXPECT_GT(value, lit + 0.4f * 0.3f);
    EXPECT_LT(value, lit + 0.4f * 0.8f);
  }
  EXPECT_NE(end, reds(63));
}

TEST(Ray, OriginalShowsSpheresOnAFloorUnderABlackSky) {
  const std::vector<int32_t> image = ray_original_reference(ray_picture(64, 64));
  ASSERT_EQ(image.size(), 64u * 64);
  const auto red = [&](int x, int y) { return image[y * 64 + x] & 0xff; };
  const auto green = [&](int x, int y) { return image[y * 64 + x] >> 8 & 0xff; };
  EXPECT_EQ(static_cast<uint32_t>(image.back()), 0xff000000u);  // the rows go upwards
  EXPECT_GT(red(1, 1), 20);                                     // the floor
  EXPECT_NEAR(red(1, 1), green(1, 1), 8);
  EXPECT_GT(red(32, 30), 2 * green(32, 30));  // the red sphere
}

TEST(Ray, ColoursAreBytes) {
  EXPECT_EQ(ray_packed({1.0f, 0.0f, 0.5f, 1.3f}), 0xff7f00ffu);
  EXPECT_EQ(ray_packed({-0.1f, 2.0f, 0.0f, 0.0f}), 0x0000ff00u);
}

}  // namespace
}  // namespace nearwarp::workloads
