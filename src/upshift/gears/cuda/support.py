"""What a lane's function calls, in LLVM IR: sums in NumPy's order, and what threads do together."""

from __future__ import annotations

import re
from string import Template

NAMES = frozenset(
    ["thread", "team", "wait", "any", "arena", "memory"]
    + [f"{word}_{letter}" for word in ("sum", "team_sum", "team_max", "team_min") for letter in "df"]
)
"""Functions that are neither C's nor NVIDIA's; they are called by `upshift_` and these names."""
MOST_ROOM = 227 << 10
"""Bytes that the threads of a block share."""

ON_A_GPU = """
@upshift_shared = external addrspace(3) global [0 x i8], align 16
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare void @llvm.nvvm.barrier0()
declare i32 @llvm.nvvm.barrier0.or(i32)
define i64 @upshift_thread() alwaysinline {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %n = zext i32 %i to i64
  ret i64 %n
}
define i64 @upshift_team() alwaysinline {
  %i = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %n = zext i32 %i to i64
  ret i64 %n
}
define void @upshift_wait() alwaysinline convergent {
  call void @llvm.nvvm.barrier0()
  ret void
}
define i32 @upshift_any(i32 %flag) alwaysinline convergent {
  %n = call i32 @llvm.nvvm.barrier0.or(i32 %flag)
  ret i32 %n
}
define i64 @upshift_arena() alwaysinline {
  %p = addrspacecast ptr addrspace(3) @upshift_shared to ptr
  %n = ptrtoint ptr %p to i64
  ret i64 %n
}
"""
ALONE = f"""
@upshift_shared = internal global [{MOST_ROOM} x i8] zeroinitializer, align 16
define i64 @upshift_thread() {{ ret i64 0 }}
define i64 @upshift_team() {{ ret i64 1 }}
define void @upshift_wait() {{ ret void }}
define i32 @upshift_any(i32 %flag) {{ ret i32 %flag }}
define i64 @upshift_arena() {{ ret i64 ptrtoint (ptr @upshift_shared to i64) }}
"""
"""The same for one thread by itself, on any processor."""

MEMORY = """
define ptr @upshift_memory(i64 %base, i64 %at, i64 %size) alwaysinline {
  %there = add i64 %base, %at
  %p = inttoptr i64 %there to ptr
  ret ptr %p
}
"""
_SUM = Template("""
define internal $t @upshift_leaf_$l(ptr %p, i64 %n, i64 %step) alwaysinline {
entry:
  %few = icmp slt i64 %n, 8
  br i1 %few, label %short, label %eights
short:
  br label %short.head
short.head:
  %i = phi i64 [ 0, %short ], [ %i.next, %short.body ]
  %total = phi $t [ -0.0, %short ], [ %total.next, %short.body ]
  %short.on = icmp slt i64 %i, %n
  br i1 %short.on, label %short.body, label %short.end
short.body:
  %i.off = mul i64 %i, %step
  %i.at = getelementptr i8, ptr %p, i64 %i.off
  %i.value = load $t, ptr %i.at
  %total.next = fadd $t %total, %i.value
  %i.next = add i64 %i, 1
  br label %short.head
short.end:
  ret $t %total
eights:
$first
  %whole = and i64 %n, -8
  br label %head
head:
  %k = phi i64 [ 8, %eights ], [ %k.next, %body ]
$phis
  %on = icmp slt i64 %k, %whole
  br i1 %on, label %body, label %end
body:
$body
  %k.next = add i64 %k, 8
  br label %head
end:
  %s01 = fadd $t %r0, %r1
  %s23 = fadd $t %r2, %r3
  %s45 = fadd $t %r4, %r5
  %s67 = fadd $t %r6, %r7
  %s03 = fadd $t %s01, %s23
  %s47 = fadd $t %s45, %s67
  %s = fadd $t %s03, %s47
  br label %rest
rest:
  %m = phi i64 [ %whole, %end ], [ %m.next, %rest.body ]
  %sum = phi $t [ %s, %end ], [ %sum.next, %rest.body ]
  %rest.on = icmp slt i64 %m, %n
  br i1 %rest.on, label %rest.body, label %out
rest.body:
  %m.off = mul i64 %m, %step
  %m.at = getelementptr i8, ptr %p, i64 %m.off
  %m.value = load $t, ptr %m.at
  %sum.next = fadd $t %sum, %m.value
  %m.next = add i64 %m, 1
  br label %rest
out:
  ret $t %sum
}
define $t @upshift_sum_$l(ptr %p, i64 %n, i64 %step) {
  %long = icmp sgt i64 %n, 128
  br i1 %long, label %halves, label %leaf
leaf:
  %all = call $t @upshift_leaf_$l(ptr %p, i64 %n, i64 %step)
  ret $t %all
halves:
  %half = lshr i64 %n, 1
  %left.n = and i64 %half, -8
  %right.n = sub i64 %n, %left.n
  %right.off = mul i64 %left.n, %step
  %right.p = getelementptr i8, ptr %p, i64 %right.off
  %left = call $t @upshift_sum_$l(ptr %p, i64 %left.n, i64 %step)
  %right = call $t @upshift_sum_$l(ptr %right.p, i64 %right.n, i64 %step)
  %both = fadd $t %left, %right
  ret $t %both
}
""")
_TEAM_SUM = Template("""
define internal { i64, i64, i1, i1 } @upshift_node_$l(i64 %n, i64 %path, i64 %levels) {
entry:
  br label %head
head:
  %level = phi i64 [ %levels, %entry ], [ %below, %next ]
  %start = phi i64 [ 0, %entry ], [ %start.next, %next ]
  %count = phi i64 [ %n, %entry ], [ %count.next, %next ]
  %done = icmp eq i64 %level, 0
  br i1 %done, label %found, label %look
look:
  %below = sub i64 %level, 1
  %is.leaf = icmp sle i64 %count, 128
  br i1 %is.leaf, label %early, label %next
next:
  %half = lshr i64 %count, 1
  %left = and i64 %half, -8
  %shifted = lshr i64 %path, %below
  %bit = and i64 %shifted, 1
  %goes.right = icmp ne i64 %bit, 0
  %right = sub i64 %count, %left
  %further = add i64 %start, %left
  %start.next = select i1 %goes.right, i64 %further, i64 %start
  %count.next = select i1 %goes.right, i64 %right, i64 %left
  br label %head
early:
  %one = shl i64 1, %level
  %mask = sub i64 %one, 1
  %rest = and i64 %path, %mask
  %first = icmp eq i64 %rest, 0
  br label %out
found:
  %inner = icmp sgt i64 %count, 128
  br label %out
out:
  %is.own = phi i1 [ %first, %early ], [ true, %found ]
  %is.inner = phi i1 [ false, %early ], [ %inner, %found ]
  %a = insertvalue { i64, i64, i1, i1 } undef, i64 %start, 0
  %b = insertvalue { i64, i64, i1, i1 } %a, i64 %count, 1
  %c = insertvalue { i64, i64, i1, i1 } %b, i1 %is.own, 2
  %d = insertvalue { i64, i64, i1, i1 } %c, i1 %is.inner, 3
  ret { i64, i64, i1, i1 } %d
}
define $t @upshift_team_sum_$l(ptr %p, i64 %n, i64 %step, ptr %scratch) convergent {
entry:
  %thread = call i64 @upshift_thread()
  %team = call i64 @upshift_team()
  br label %depth
depth:
  %levels = phi i64 [ 0, %entry ], [ %levels.next, %deeper ]
  %largest = phi i64 [ %n, %entry ], [ %largest.next, %deeper ]
  %deep = icmp sgt i64 %largest, 128
  br i1 %deep, label %deeper, label %leaves
deeper:
  %half = lshr i64 %largest, 1
  %left = and i64 %half, -8
  %largest.next = sub i64 %largest, %left
  %levels.next = add i64 %levels, 1
  br label %depth
leaves:
  %paths = shl i64 1, %levels
  call void @upshift_wait()
  br label %leaf.head
leaf.head:
  %path = phi i64 [ %thread, %leaves ], [ %path.next, %leaf.next ]
  %leaf.on = icmp slt i64 %path, %paths
  br i1 %leaf.on, label %leaf, label %tree
leaf:
  %node = call { i64, i64, i1, i1 } @upshift_node_$l(i64 %n, i64 %path, i64 %levels)
  %own = extractvalue { i64, i64, i1, i1 } %node, 2
  br i1 %own, label %leaf.sum, label %leaf.next
leaf.sum:
  %start = extractvalue { i64, i64, i1, i1 } %node, 0
  %count = extractvalue { i64, i64, i1, i1 } %node, 1
  %off = mul i64 %start, %step
  %at = getelementptr i8, ptr %p, i64 %off
  %made = call $t @upshift_leaf_$l(ptr %at, i64 %count, i64 %step)
  %slot = getelementptr $t, ptr %scratch, i64 %path
  store $t %made, ptr %slot
  br label %leaf.next
leaf.next:
  %path.next = add i64 %path, %team
  br label %leaf.head
tree:
  %level = phi i64 [ %levels, %leaf.head ], [ %up, %tree.next ]
  call void @upshift_wait()
  %at.top = icmp eq i64 %level, 0
  br i1 %at.top, label %end, label %tree.level
tree.level:
  %up = sub i64 %level, 1
  %nodes = shl i64 1, %up
  %span = sub i64 %levels, %up
  %to.right = sub i64 %span, 1
  %apart = shl i64 1, %to.right
  br label %node.head
node.head:
  %q = phi i64 [ %thread, %tree.level ], [ %q.next, %node.next ]
  %node.on = icmp slt i64 %q, %nodes
  br i1 %node.on, label %node.look, label %tree.next
node.look:
  %that = call { i64, i64, i1, i1 } @upshift_node_$l(i64 %n, i64 %q, i64 %up)
  %that.inner = extractvalue { i64, i64, i1, i1 } %that, 3
  br i1 %that.inner, label %node.add, label %node.next
node.add:
  %left.slot = shl i64 %q, %span
  %right.slot = add i64 %left.slot, %apart
  %left.at = getelementptr $t, ptr %scratch, i64 %left.slot
  %right.at = getelementptr $t, ptr %scratch, i64 %right.slot
  %a = load $t, ptr %left.at
  %b = load $t, ptr %right.at
  %c = fadd $t %a, %b
  store $t %c, ptr %left.at
  br label %node.next
node.next:
  %q.next = add i64 %q, %team
  br label %node.head
tree.next:
  br label %tree
end:
  %total = load $t, ptr %scratch
  call void @upshift_wait()
  ret $t %total
}
""")
_TEAM_EXTREME = Template("""
define $t @upshift_team_${word}_$l(ptr %p, i64 %n, i64 %step, ptr %scratch) convergent {
entry:
  %thread = call i64 @upshift_thread()
  %team = call i64 @upshift_team()
  %first = load $t, ptr %p
  br label %head
head:
  %i = phi i64 [ %thread, %entry ], [ %i.next, %body ]
  %best = phi $t [ %first, %entry ], [ %better, %body ]
  %on = icmp slt i64 %i, %n
  br i1 %on, label %body, label %share
body:
  %off = mul i64 %i, %step
  %at = getelementptr i8, ptr %p, i64 %off
  %value = load $t, ptr %at
  %wins = fcmp $compare $t %best, %value
  %nan = fcmp uno $t %best, %best
  %stays = or i1 %wins, %nan
  %better = select i1 %stays, $t %best, $t %value
  %i.next = add i64 %i, %team
  br label %head
share:
  call void @upshift_wait()
  %slot = getelementptr $t, ptr %scratch, i64 %thread
  store $t %best, ptr %slot
  br label %tree
tree:
  %width = phi i64 [ %team, %share ], [ %half, %tree.next ]
  call void @upshift_wait()
  %half = lshr i64 %width, 1
  %over = icmp eq i64 %half, 0
  br i1 %over, label %end, label %look
look:
  %mine = icmp slt i64 %thread, %half
  br i1 %mine, label %both, label %tree.next
both:
  %other.i = add i64 %thread, %half
  %other.at = getelementptr $t, ptr %scratch, i64 %other.i
  %a = load $t, ptr %slot
  %b = load $t, ptr %other.at
  %a.wins = fcmp $compare $t %a, %b
  %a.nan = fcmp uno $t %a, %a
  %a.stays = or i1 %a.wins, %a.nan
  %c = select i1 %a.stays, $t %a, $t %b
  store $t %c, ptr %slot
  br label %tree.next
tree.next:
  br label %tree
end:
  %result = load $t, ptr %scratch
  call void @upshift_wait()
  ret $t %result
}
""")


def _sum(t: str, letter: str) -> str:
    first, phis, body = [], [], []
    for j in range(8):
        first += [
            f"  %f{j}.off = mul i64 {j}, %step", f"  %f{j}.at = getelementptr i8, ptr %p, i64 %f{j}.off",
            f"  %f{j} = load {t}, ptr %f{j}.at",
        ]  # fmt: skip
        phis.append(f"  %r{j} = phi {t} [ %f{j}, %eights ], [ %n{j}, %body ]")
        body += [
            f"  %k{j} = add i64 %k, {j}", f"  %k{j}.off = mul i64 %k{j}, %step",
            f"  %k{j}.at = getelementptr i8, ptr %p, i64 %k{j}.off", f"  %k{j}.value = load {t}, ptr %k{j}.at",
            f"  %n{j} = fadd {t} %r{j}, %k{j}.value",
        ]  # fmt: skip
    return _SUM.substitute(t=t, l=letter, first="\n".join(first), phis="\n".join(phis), body="\n".join(body))


def support_for(text: str, together: str) -> str:
    """Definitions of what a lane's function calls of this. `together`: how threads work together, if there are any."""
    called = set(re.findall(r"@upshift_(\w+)\(", text)) & NAMES
    found = (
        [together] if called & {"thread", "team", "wait", "any", "arena"} or any("team_" in c for c in called) else []
    )
    if "memory" in called:
        found.append(MEMORY)
    for t, letter in (("double", "d"), ("float", "f")):
        if {f"sum_{letter}", f"team_sum_{letter}"} & called:
            found.append(_sum(t, letter))
        if f"team_sum_{letter}" in called:
            found.append(_TEAM_SUM.substitute(t=t, l=letter))
        for word, compare in (("max", "oge"), ("min", "ole")):
            if f"team_{word}_{letter}" in called:
                found.append(_TEAM_EXTREME.substitute(t=t, l=letter, word=word, compare=compare))
    return "\n".join(found)
