#include "persist/aof_files.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "io/files.h"

namespace sorrel::persist {
namespace {

namespace fs = std::filesystem;

class AofFilesTest : public ::testing::Test {
 protected:
  void SetUp() override {
    dir = fs::temp_directory_path() / ("sorrel_aof_" + std::to_string(getpid()));
    fs::remove_all(dir);
    fs::create_directory(dir);
    make();
  }
  void TearDown() override { fs::remove_all(dir); }

  // As after a restart.
  void make() { files = std::make_unique<AofFiles>(AofPlace{dir, "logs", "a.aof"}, log); }
  void put(const std::string& path, std::string_view bytes) {
    ASSERT_TRUE(io::write_file_atomically(path, bytes).ok());
  }
  std::string get(const std::string& path) {
    auto bytes = io::read_file(path, 1 << 20);
    return bytes ? *bytes : "error: " + bytes.error().text;
  }
  std::string manifest_text() { return get(files->path("a.aof.manifest")); }
  // A base of its own, as a child would have written it.
  Status put_base(std::string_view bytes, AofFiles::NewBase base) {
    EXPECT_TRUE(AofFiles::make_folder(files->place()).ok());
    base.file = AofFiles::temporary_base(files->place(), 17);
    put(base.file, bytes);
    return files->put_base(base);
  }

  fs::path dir;
  NullLogger log;
  std::unique_ptr<AofFiles> files;
};

TEST_F(AofFilesTest, NothingThereIsNoMistake) {
  ASSERT_TRUE(files->read().ok());
  EXPECT_TRUE(files->manifest().names_nothing());
  EXPECT_FALSE(fs::exists(dir / "logs"));
}

TEST_F(AofFilesTest, IncrementsAreThereBeforeTheManifestNamesThem) {
  ASSERT_TRUE(files->read().ok());
  auto first = files->open_increment();
  ASSERT_TRUE(first.ok());
  ASSERT_TRUE(first->file->append("one").ok());
  ASSERT_TRUE(files->add_increment().ok());
  EXPECT_EQ(manifest_text(),
            "file a.aof.1.incr.aof seq 1 type i\nfile a.aof.2.incr.aof seq 2 type i\n");
  EXPECT_EQ(get(files->path("a.aof.1.incr.aof")), "one");
  make();
  ASSERT_TRUE(files->read().ok());
  auto again = files->open_increment();  // the last one
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->size, 0u);
  EXPECT_EQ(files->total_bytes(), 3u);
}

TEST_F(AofFilesTest, ABaseTakesThePlaceOfAllBeforeIt) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(put_base("before", {}).ok());
  ASSERT_TRUE(files->open_increment().ok());
  ASSERT_TRUE(files->add_increment().ok());
  ASSERT_TRUE(put_base("base", {.keep_increments = 1, .delete_history = false}).ok());
  EXPECT_EQ(manifest_text(),
            "file a.aof.2.base.rdb seq 2 type b\n"
            "file a.aof.1.incr.aof seq 1 type h\n"
            "file a.aof.1.base.rdb seq 1 type h\n"
            "file a.aof.2.incr.aof seq 2 type i\n");
  EXPECT_TRUE(fs::exists(files->path("a.aof.1.incr.aof")));
  files->delete_history();
  EXPECT_FALSE(fs::exists(files->path("a.aof.1.incr.aof")));
  EXPECT_EQ(manifest_text(),
            "file a.aof.2.base.rdb seq 2 type b\nfile a.aof.2.incr.aof seq 2 type i\n");
  EXPECT_EQ(get(files->path("a.aof.2.base.rdb")), "base");
  EXPECT_FALSE(fs::exists(AofFiles::temporary_base(files->place(), 17)));
}

TEST_F(AofFilesTest, TheFirstIncrementComesWithItsBase) {
  ASSERT_TRUE(files->read().ok());
  auto temporary = files->open_temporary_increment();
  ASSERT_TRUE(temporary.ok());
  ASSERT_TRUE(temporary->file->append("early").ok());
  EXPECT_FALSE(fs::exists(files->path("a.aof.manifest")));
  ASSERT_TRUE(put_base("base", {.is_rdb = false, .temporary_increment = true}).ok());
  ASSERT_TRUE(temporary->file->append(" late").ok());  // it is the same file
  EXPECT_EQ(get(files->path("a.aof.1.incr.aof")), "early late");
  EXPECT_EQ(manifest_text(),
            "file a.aof.1.base.aof seq 1 type b\nfile a.aof.1.incr.aof seq 1 type i\n");
}

TEST_F(AofFilesTest, ABaseThatIsNotThereChangesNothing) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(files->open_increment().ok());
  const std::string before = manifest_text();
  EXPECT_FALSE(files->put_base({.file = files->path("none")}).ok());
  EXPECT_EQ(manifest_text(), before);
  EXPECT_EQ(files->manifest().base_sequence, 0);
}

TEST_F(AofFilesTest, ABaseStaysWhenTheManifestMayNameIt) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(AofFiles::make_folder(files->place()).ok());
  fs::create_directory(files->path("a.aof.manifest"));  // cannot be written
  EXPECT_FALSE(put_base("first", {}).ok());
  EXPECT_EQ(get(files->path("a.aof.1.base.rdb")), "first");
  fs::remove(files->path("a.aof.manifest"));
  ASSERT_TRUE(put_base("second", {}).ok());
  EXPECT_EQ(get(files->path("a.aof.1.base.rdb")), "first");
  EXPECT_EQ(manifest_text(), "file a.aof.2.base.rdb seq 2 type b\n");
}

// The increment that comes with it as well: another one of that name would belong to no base.
TEST_F(AofFilesTest, AnIncrementStaysWhenTheManifestMayNameIt) {
  ASSERT_TRUE(files->read().ok());
  const auto put_both = [this](std::string_view bytes) {
    auto temporary = files->open_temporary_increment();
    EXPECT_TRUE(temporary.ok() && temporary->file->append(bytes).ok());
    return put_base(bytes, {.temporary_increment = true});
  };
  ASSERT_TRUE(AofFiles::make_folder(files->place()).ok());
  fs::create_directory(files->path("a.aof.manifest"));  // cannot be written
  EXPECT_FALSE(put_both("first").ok());
  fs::remove(files->path("a.aof.manifest"));
  ASSERT_TRUE(put_both("second").ok());
  EXPECT_EQ(get(files->path("a.aof.1.incr.aof")), "first");
  EXPECT_EQ(get(files->path("a.aof.2.incr.aof")), "second");
  EXPECT_EQ(manifest_text(),
            "file a.aof.2.base.rdb seq 2 type b\nfile a.aof.2.incr.aof seq 2 type i\n");
}

// Nor is it gone for a moment when it is begun once more.
TEST_F(AofFilesTest, AnIncrementThatIsBegunAgainIsTheSameFile) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(AofFiles::make_folder(files->place()).ok());
  fs::create_directory(files->path("a.aof.manifest"));  // cannot be written
  ASSERT_FALSE(files->add_increment().ok());
  const fs::path file = files->path("a.aof.1.incr.aof");
  put(file, "left behind");
  fs::create_hard_link(file, dir / "link");
  fs::remove(files->path("a.aof.manifest"));
  const auto begun = files->add_increment();
  ASSERT_TRUE(begun.ok());
  EXPECT_EQ(begun->size, 0u);
  EXPECT_EQ(get(file), "");
  EXPECT_EQ(fs::hard_link_count(file), 2u);
  EXPECT_EQ(manifest_text(), "file a.aof.1.incr.aof seq 1 type i\n");
}

TEST_F(AofFilesTest, ALogOfOldBecomesTheBase) {
  put(dir / "a.aof", "old log");
  ASSERT_TRUE(files->read().ok());
  // Who does not load it has no right to it: it would be history with the next base.
  EXPECT_EQ(get(dir / "a.aof"), "old log");
  ASSERT_TRUE(files->take_over_old().ok());
  EXPECT_EQ(manifest_text(), "file a.aof seq 1 type b\n");
  EXPECT_EQ(get(files->path("a.aof")), "old log");
  EXPECT_FALSE(fs::exists(dir / "a.aof"));
  ASSERT_TRUE(put_base("base", {}).ok());
  EXPECT_EQ(manifest_text(), "file a.aof.2.base.rdb seq 2 type b\n");
}

TEST_F(AofFilesTest, AnInterruptedUpgradeGoesOn) {
  put(dir / "a.aof", "old log");
  ASSERT_TRUE(AofFiles::make_folder(files->place()).ok());
  put(files->path("a.aof.manifest"), "file a.aof seq 1 type b\n");
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(files->take_over_old().ok());
  EXPECT_EQ(get(files->path("a.aof")), "old log");
  EXPECT_FALSE(fs::exists(dir / "a.aof"));
  // A file of that name that comes later is none of ours.
  put(dir / "a.aof", "another");
  make();
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(files->take_over_old().ok());
  EXPECT_EQ(get(files->path("a.aof")), "old log");
  EXPECT_EQ(get(dir / "a.aof"), "another");
}

// A base without an increment behind it, and the files before it are not deleted yet.
TEST_F(AofFilesTest, AFileThatIsStillToBeDeletedIsNotWrittenTo) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(put_base("first", {}).ok());
  ASSERT_TRUE(files->add_increment().ok());
  ASSERT_TRUE(put_base("second", {.delete_history = false}).ok());
  make();
  ASSERT_TRUE(files->read().ok());
  auto opened = files->open_increment();
  ASSERT_TRUE(opened.ok());
  ASSERT_TRUE(opened->file->append("new").ok());
  files->delete_history();
  EXPECT_EQ(get(files->path("a.aof.2.incr.aof")), "new");
  EXPECT_EQ(manifest_text(),
            "file a.aof.2.base.rdb seq 2 type b\nfile a.aof.2.incr.aof seq 2 type i\n");
}

TEST_F(AofFilesTest, ABaseThatNothingNamesIsNotLeftBehind) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(put_base("first", {}).ok());
  const std::string before = manifest_text();
  // Its name is too long for the file that becomes the manifest, not for a base.
  const AofPlace place{dir, "logs", std::string(230, 'n')};
  AofFiles other(place, log);
  ASSERT_TRUE(other.read().ok());
  put(AofFiles::temporary_base(place, 17), "second");
  EXPECT_FALSE(other.put_base({.file = AofFiles::temporary_base(place, 17)}).ok());
  EXPECT_FALSE(fs::exists(AofFiles::temporary_base(place, 17)));
  EXPECT_EQ(manifest_text(), before);
}

TEST_F(AofFilesTest, ALogWithoutABaseIsRewritten) {
  ASSERT_TRUE(AofFiles::make_folder(files->place()).ok());
  put(files->path("a.aof.1.incr.aof"), "old");
  put(files->path("a.aof.manifest"), "file a.aof.1.incr.aof seq 1 type i\n");
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(files->add_increment().ok());
  ASSERT_TRUE(put_base("all", {.keep_increments = 1}).ok());
  EXPECT_EQ(manifest_text(),
            "file a.aof.1.base.rdb seq 1 type b\nfile a.aof.2.incr.aof seq 2 type i\n");
  EXPECT_FALSE(fs::exists(files->path("a.aof.1.incr.aof")));
  EXPECT_EQ(files->base_bytes(), 3u);
}

TEST_F(AofFilesTest, SizesOfFilesThatDoNotGrowAreKnown) {
  ASSERT_TRUE(files->read().ok());
  ASSERT_TRUE(put_base("12345", {}).ok());
  EXPECT_EQ(files->closed_bytes(), 5u);
  auto first = files->add_increment();
  ASSERT_TRUE(first.ok() && first->file->append("123").ok());
  EXPECT_EQ(files->closed_bytes(), 5u);
  EXPECT_EQ(files->total_bytes(), 8u);
  ASSERT_TRUE(files->add_increment().ok());
  EXPECT_EQ(files->closed_bytes(), 8u);
  ASSERT_TRUE(put_base("1234567", {.keep_increments = 1}).ok());
  EXPECT_EQ(files->closed_bytes(), 7u);
}

class AofMoveTest : public AofFilesTest {
 protected:
  void SetUp() override {
    AofFilesTest::SetUp();
    to = {dir / "new", "logs", "b.aof"};
    fs::create_directory(dir / "new");
    ASSERT_TRUE(files->read().ok());
    ASSERT_TRUE(put_base("old base", {}).ok());
    auto opened = files->open_increment();
    ASSERT_TRUE(opened.ok() && opened->file->append("since then").ok() &&
                opened->file->sync(10).ok());
    old_manifest = manifest_text();
  }
  Result<OpenLog> move() {
    EXPECT_TRUE(AofFiles::make_folder(to).ok());
    put(AofFiles::temporary_base(to, 17), "new base");
    return files->move_to(to, {.file = AofFiles::temporary_base(to, 17), .keep_increments = 1});
  }

  AofPlace to;
  std::string old_manifest;
};

TEST_F(AofMoveTest, TheLogGoesOnElsewhere) {
  auto opened = move();
  ASSERT_TRUE(opened.ok());
  EXPECT_EQ(opened->size, 10u);
  ASSERT_TRUE(opened->file->append(", and more").ok());
  EXPECT_EQ(files->place(), to);
  EXPECT_EQ(get(dir / "new/logs/b.aof.manifest"),
            "file b.aof.1.base.rdb seq 1 type b\nfile b.aof.1.incr.aof seq 1 type i\n");
  EXPECT_EQ(get(files->path("b.aof.1.base.rdb")), "new base");
  EXPECT_EQ(get(files->path("b.aof.1.incr.aof")), "since then, and more");
  // Where it was, it is as it was.
  EXPECT_EQ(get(dir / "logs/a.aof.manifest"), old_manifest);
  EXPECT_EQ(get(dir / "logs/a.aof.1.incr.aof"), "since then");
}

TEST_F(AofMoveTest, ALogThatWasThereIsReplaced) {
  AofFiles other(to, log);
  ASSERT_TRUE(other.read().ok() && other.open_increment().ok());
  ASSERT_TRUE(move().ok());
  EXPECT_EQ(get(files->path("b.aof.manifest")),
            "file b.aof.1.base.rdb seq 1 type b\nfile b.aof.2.incr.aof seq 2 type i\n");
  EXPECT_EQ(get(files->path("b.aof.2.incr.aof")), "since then");
  EXPECT_FALSE(fs::exists(files->path("b.aof.1.incr.aof")));
}

TEST_F(AofMoveTest, WithoutAnIncrementThereIsNothingToMove) {
  AofFiles other({dir, "others", "c.aof"}, log);
  ASSERT_TRUE(other.read().ok());
  EXPECT_TRUE(AofFiles::make_folder(to).ok());
  put(AofFiles::temporary_base(to, 17), "new base");
  EXPECT_FALSE(other.move_to(to, {.file = AofFiles::temporary_base(to, 17)}).ok());
  EXPECT_FALSE(fs::exists(AofFiles::temporary_base(to, 17)));
}

TEST_F(AofMoveTest, AMoveThatFailsChangesNothing) {
  fs::create_directories(dir / "new/logs/b.aof.1.incr.aof");  // cannot be written to
  EXPECT_FALSE(move().ok());
  EXPECT_EQ(files->place().name, "a.aof");
  EXPECT_EQ(manifest_text(), old_manifest);
  EXPECT_FALSE(fs::exists(dir / "new/logs/b.aof.1.base.rdb"));
  fs::remove(dir / "new/logs/b.aof.1.incr.aof");
  put(dir / "new/logs/b.aof.manifest", "nonsense\n");
  EXPECT_FALSE(move().ok());
  EXPECT_EQ(get(dir / "new/logs/b.aof.manifest"), "nonsense\n");
  EXPECT_FALSE(fs::exists(AofFiles::temporary_base(to, 17)));
}

TEST_F(AofFilesTest, ADamagedManifestIsRefusedWithItsLine) {
  ASSERT_TRUE(AofFiles::make_folder(files->place()).ok());
  put(files->path("a.aof.manifest"), "file a seq 1 type b\nnonsense\n");
  const Status read = files->read();
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.error().text.find("line 2: Invalid AOF manifest file format"), std::string::npos)
      << read.error().text;
}

}  // namespace
}  // namespace sorrel::persist
