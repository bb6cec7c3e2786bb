// Attention by blocks of queries and blocks of keys: products by our own kernel, and the softmax
// between them (kernels/attention.cpp). T. Dao and others, "FlashAttention" (2022).
//
// Forward, a chunk is some queries of one matrix. Backward, it is some keys, whose cotangents it
// computes completely; the cotangents of the queries are sums over chunks, added in order. The cut
// depends on the shapes alone, so the bits do not depend on the number of threads.
#include "backend/cpu/products/attention_run.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "backend/cpu/kernels/table.h"
#include "base/threads.h"

namespace pullback {
namespace {

constexpr int64_t kRows = 128;  // queries per block
constexpr int64_t kColumns = kAttentionColumns;
// Backward, one chunk per matrix, and up to kEnough chunks if there are fewer matrices. Each
// additional chunk needs memory for another cotangent of the queries.
constexpr int64_t kEnough = 16;

// c = a b, or c += a b.
template <class T>
void product(int64_t m, int64_t n, int64_t k, const T* a, int64_t a_row, int64_t a_column,
             const T* b, int64_t b_row, int64_t b_column, T* c, int64_t c_row, bool add) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (int64_t i = 0; i < m && !add; ++i) std::fill_n(c + i * c_row, n, T(0));
    return;
  }
  kernels().products.of[sizeof(T) == 8](
      {m, n, k, a, a_row, a_column, b, b_row, b_column, c, c_row, add});
}

template <class T>
class Attention {
 public:
  Attention(const LibraryCall& call, const Slots& slots)
      : call_(call), slots_(slots), form_(call.form) {
    const Shape& q = call.in[0].shape;
    const Shape& v = call.in[2].shape;
    rank_ = q.rank - 2;
    queries_ = q[rank_];
    depth_ = q[rank_ + 1];
    keys_ = v[rank_];
    width_ = v[rank_ + 1];
    q_ = in(0);
    k_ = in(1);
    v_ = in(2);
    size_t next = form_.routine == Routine::attention ? 3 : 6;
    if (form_.masked) {
      mask_ = &call.in[next++];
      mask_rows_ = mask_->shape[rank_];
      mask_columns_ = mask_->shape[rank_ + 1];
    }
    if (form_.dropped) {
      seed_ = *reinterpret_cast<const int64_t*>(slots.at(call.in[next]));
      counter_ = *reinterpret_cast<const int64_t*>(slots.at(call.in[next + 1]));
      rate_ = *reinterpret_cast<const float*>(slots.at(call.in[next + 2]));
    }
  }

  Status forward() {
    T* out = result(0);
    T* stats = result(1);
    const int64_t blocks = ceil_div(queries_, kRows);
    FirstProblem problem;
    parallel_for(call_.batch * blocks, is_parallel(2), [&](int64_t chunk) {
      const StepMemory memory((kRows * kColumns + 3 * kRows) * static_cast<int64_t>(sizeof(T)));
      if (!memory.data()) return problem.report(chunk, Problem::Memory);
      auto* space = reinterpret_cast<T*>(memory.data());
      const int64_t first = chunk % blocks * kRows;
      forward_rows(chunk / blocks, first, std::min(kRows, queries_ - first), space, out, stats);
    });
    return problem.status();
  }

  Status backward() {
    const int64_t blocks = ceil_div(keys_, kColumns);
    const int64_t wanted = std::clamp<int64_t>(kEnough / std::max<int64_t>(call_.batch, 1), 1,
                                               std::max<int64_t>(blocks, 1));
    const int64_t each = std::max<int64_t>(1, ceil_div(blocks, wanted));  // blocks per chunk
    const int64_t cuts = std::max<int64_t>(1, ceil_div(blocks, each));
    const int64_t all = call_.batch * queries_ * depth_;
    T* dq = result(0);
    const StepMemory more(
        std::max<int64_t>(64, dq ? (cuts - 1) * all * static_cast<int64_t>(sizeof(T)) : 0));
    if (!more.data()) return failure(Problem::Memory);
    auto* parts = reinterpret_cast<T*>(more.data());
    FirstProblem problem;
    parallel_for(call_.batch * cuts, is_parallel(5), [&](int64_t chunk) {
      const StepMemory memory(2 * kRows * kColumns * static_cast<int64_t>(sizeof(T)));
      if (!memory.data()) return problem.report(chunk, Problem::Memory);
      const int64_t cut = chunk % cuts, at = chunk / cuts;
      T* mine = !dq ? nullptr : cut == 0 ? dq : parts + (cut - 1) * all;
      if (mine) mine += at * queries_ * depth_;
      backward_columns(at, cut * each * kColumns, std::min(keys_, (cut + 1) * each * kColumns),
                       reinterpret_cast<T*>(memory.data()), mine);
    });
    if (!problem.status() || !dq || cuts == 1) return problem.status();
    const int64_t length = chunk_size(all, 1);
    parallel_for(ceil_div(all, length), all > kSmallestChunk, [&](int64_t chunk) {
      const int64_t end = std::min(all, (chunk + 1) * length);
      for (int64_t cut = 1; cut < cuts; ++cut) {
        const T* part = parts + (cut - 1) * all;
        for (int64_t i = chunk * length; i < end; ++i) dq[i] += part[i];
      }
    });
    return {};
  }

 private:
  const T* in(size_t which) const { return reinterpret_cast<const T*>(slots_.at(call_.in[which])); }
  T* result(size_t which) const { return reinterpret_cast<T*>(slots_.at(call_.out[which])); }

  // `products`: a rough count of nanoseconds.
  bool is_parallel(double products) const {
    return worth_threads(products * static_cast<double>(call_.batch * queries_ * keys_) *
                         (static_cast<double>(depth_ + width_) / 64 + 0.5));
  }

  // The end of the keys that some query of a block sees.
  int64_t last_key(int64_t first, int64_t rows) const {
    return form_.causal ? std::min(keys_, first + rows) : keys_;
  }

  AttentionBlock block(int64_t at, int64_t row, int64_t rows, int64_t column, T* scores) const {
    AttentionBlock b{};
    b.scores = scores;
    b.rows = rows;
    b.columns = std::min(kColumns, keys_ - column);
    b.stride = kColumns;
    b.first_row = row;
    b.first_column = column;
    b.causal = form_.causal && column + b.columns > row + 1;
    if (mask_) {
      int64_t place = 0;
      int64_t size = mask_rows_ * mask_columns_;
      for (int64_t d = rank_; d-- > 0;) {  // offset of the mask of this matrix; several may share a
                                           // mask
        const int64_t length = call_.in[0].shape[d];
        if (mask_->shape[d] > 1) place += at % length * size;
        size *= mask_->shape[d];
        at /= length;
      }
      b.mask_row = mask_rows_ > 1 ? mask_columns_ : 0;
      b.mask_column = mask_columns_ > 1;
      place += row * b.mask_row + column * b.mask_column;
      b.mask = slots_.at(*mask_) + place * size_of(mask_->dtype);
      b.added = mask_->dtype != DType::Bool;
    }
    return b;
  }
  void drop(int64_t at, AttentionBlock* b) const {
    b->dropped = form_.dropped;
    b->seed = seed_;
    b->counter = counter_;
    b->rate = rate_;
    b->draws_row = keys_;
    b->first_draw = (at * queries_ + b->first_row) * keys_ + b->first_column;
  }

  void forward_rows(int64_t at, int64_t row, int64_t rows, T* space, T* all_out, T* all_stats) {
    T* scores = space;
    T* top = scores + kRows * kColumns;
    T* total = top + kRows;
    T* shrunk = total + kRows;
    std::fill_n(top, rows, -std::numeric_limits<T>::infinity());
    std::fill_n(total, rows, T(0));
    const T* q = q_ + (at * queries_ + row) * depth_;
    T* out = all_out ? all_out + (at * queries_ + row) * width_ : nullptr;
    if (out) std::fill_n(out, rows * width_, T(0));
    const int64_t end = last_key(row, rows);
    for (int64_t column = 0; column < end && !stop_requested(); column += kColumns) {
      AttentionBlock b = block(at, row, rows, column, scores);
      drop(at, &b);
      b.top = top;
      b.total = total;
      b.shrunk = shrunk;
      const int64_t key = at * keys_ + column;
      product(rows, b.columns, depth_, q, depth_, 1, k_ + key * depth_, 1, depth_, scores, kColumns,
              false);
      kernels().attention.forward[sizeof(T) == 8](b);
      if (!out) continue;
      for (int64_t r = 0; r < rows && column > 0; ++r) {
        for (int64_t j = 0; j < width_; ++j) out[r * width_ + j] *= shrunk[r];
      }
      product(rows, width_, b.columns, scores, kColumns, 1, v_ + key * width_, width_, 1, out,
              width_, column > 0);
    }
    for (int64_t r = 0; r < rows; ++r) {
      const T over = total[r] == T(0) ? T(0) : T(1) / total[r];
      for (int64_t j = 0; j < width_ && out; ++j) out[r * width_ + j] *= over;
      if (!all_stats) continue;
      T* stats = all_stats + 2 * (at * queries_ + row + r);
      stats[0] = over == T(0) ? T(0) : top[r];
      stats[1] = over;
    }
  }

  // Backward for the keys `begin` … `end`; `dq` belongs to this matrix.
  void backward_columns(int64_t at, int64_t begin, int64_t end, T* scores, T* dq) {
    T* slopes = scores + kRows * kColumns;
    const int64_t first_query = at * queries_;
    const T* stats = in(3) + 2 * first_query;
    const T* delta = in(4) + first_query;
    const T* g = in(5) + first_query * width_;
    const T* q = q_ + first_query * depth_;
    if (dq) std::fill_n(dq, queries_ * depth_, T(0));
    for (int64_t column = begin; column < end && !stop_requested(); column += kColumns) {
      const int64_t columns = std::min(kColumns, keys_ - column);
      const int64_t key = at * keys_ + column;
      const T* k = k_ + key * depth_;
      const T* v = v_ + key * width_;
      T* dk = result(1) ? result(1) + key * depth_ : nullptr;
      T* dv = result(2) ? result(2) + key * width_ : nullptr;
      if (dk) std::fill_n(dk, columns * depth_, T(0));
      if (dv) std::fill_n(dv, columns * width_, T(0));
      // Queries before the first key of the block do not see it.
      const int64_t first = form_.causal ? column / kRows * kRows : 0;
      for (int64_t row = first; row < queries_; row += kRows) {
        const int64_t rows = std::min(kRows, queries_ - row);
        AttentionBlock b = block(at, row, rows, column, scores);
        drop(at, &b);
        b.top = const_cast<T*>(stats + 2 * row);
        b.total = const_cast<T*>(stats + 2 * row + 1);
        b.delta = delta + row;
        b.slopes = slopes;
        product(rows, columns, depth_, q + row * depth_, depth_, 1, k, 1, depth_, scores, kColumns,
                false);
        product(rows, columns, width_, g + row * width_, width_, 1, v, 1, width_, slopes, kColumns,
                false);
        kernels().attention.backward[sizeof(T) == 8](b);
        if (dv) {
          product(columns, width_, rows, scores, 1, kColumns, g + row * width_, width_, 1, dv,
                  width_, true);
        }
        if (dk) {
          product(columns, depth_, rows, slopes, 1, kColumns, q + row * depth_, depth_, 1, dk,
                  depth_, true);
        }
        if (dq) {
          product(rows, depth_, columns, slopes, kColumns, 1, k, depth_, 1, dq + row * depth_,
                  depth_, true);
        }
      }
    }
  }

  const LibraryCall& call_;
  const Slots& slots_;
  const RoutineForm& form_;
  int64_t rank_, queries_, depth_, keys_, width_;
  const T *q_, *k_, *v_;
  const View* mask_ = nullptr;
  int64_t mask_rows_ = 0, mask_columns_ = 0;
  int64_t seed_ = 0, counter_ = 0;
  float rate_ = 0;
};

template <class T>
Status run_with(const LibraryCall& call, const Slots& slots) {
  Attention<T> attention(call, slots);
  return call.form.routine == Routine::attention ? attention.forward() : attention.backward();
}

}  // namespace

Status run_attention(const LibraryCall& call, const Slots& slots) {
  return call.in[0].dtype == DType::Float32 ? run_with<float>(call, slots)
                                            : run_with<double>(call, slots);
}

}  // namespace pullback
