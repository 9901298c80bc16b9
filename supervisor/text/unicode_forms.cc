#include "supervisor/text/unicode_forms.h"

#include <algorithm>
#include <cstddef>
#include <ranges>
#include <string_view>

namespace pa {
namespace {

// The second characters of the pairs, by the letters that stand for them below: alone they would be
// drawn over others.
constexpr char32_t kCombining[] = {0x300, 0x301, 0x302, 0x303, 0x304, 0x306, 0x307,  0x308,
                                   0x309, 0x30a, 0x30b, 0x30c, 0x30f, 0x311, 0x313,  0x314,
                                   0x31b, 0x323, 0x324, 0x325, 0x326, 0x327, 0x328,  0x32d,
                                   0x32e, 0x330, 0x331, 0x338, 0x342, 0x345, 0x3099, 0x309a};

// A character, its first part, and the letter of its mark: the canonical decompositions of
// UnicodeData.txt (Unicode 14) that NFC composes again, of Latin, Greek, Cyrillic and kana, in the
// order of the characters.
constexpr std::u16string_view kPairs =
    u"ÀAaÁAbÂAcÃAdÄAhÅAjÇCvÈEaÉEbÊEcËEhÌIaÍIbÎIcÏIhÑNdÒOaÓObÔOcÕOdÖOhÙUaÚUbÛUcÜUhÝYbàaaáabâacãad"
    u"äahåajçcvèeaéebêecëehìiaíibîicïihñndòoaóobôocõodöohùuaúubûucüuhýybÿyhĀAeāaeĂAfăafĄAwąawĆCb"
    u"ćcbĈCcĉccĊCgċcgČClčclĎDlďdlĒEeēeeĔEfĕefĖEgėegĘEwęewĚElěelĜGcĝgcĞGfğgfĠGgġggĢGvģgvĤHcĥhcĨId"
    u"ĩidĪIeīieĬIfĭifĮIwįiwİIgĴJcĵjcĶKvķkvĹLbĺlbĻLvļlvĽLlľllŃNbńnbŅNvņnvŇNlňnlŌOeōoeŎOfŏofŐOkőok"
    u"ŔRbŕrbŖRvŗrvŘRlřrlŚSbśsbŜScŝscŞSvşsvŠSlšslŢTvţtvŤTlťtlŨUdũudŪUeūueŬUfŭufŮUjůujŰUkűukŲUwųuw"
    u"ŴWcŵwcŶYcŷycŸYhŹZbźzbŻZgżzgŽZlžzlƠOqơoqƯUqưuqǍAlǎalǏIlǐilǑOlǒolǓUlǔulǕÜeǖüeǗÜbǘübǙÜlǚülǛÜa"
    u"ǜüaǞÄeǟäeǠȦeǡȧeǢÆeǣæeǦGlǧglǨKlǩklǪOwǫowǬǪeǭǫeǮƷlǯʒlǰjlǴGbǵgbǸNaǹnaǺÅbǻåbǼÆbǽæbǾØbǿøbȀAmȁam"
    u"ȂAnȃanȄEmȅemȆEnȇenȈImȉimȊInȋinȌOmȍomȎOnȏonȐRmȑrmȒRnȓrnȔUmȕumȖUnȗunȘSușsuȚTuțtuȞHlȟhlȦAgȧag"
    u"ȨEvȩevȪÖeȫöeȬÕeȭõeȮOgȯogȰȮeȱȯeȲYeȳye΅¨bΆΑbΈΕbΉΗbΊΙbΌΟbΎΥbΏΩbΐϊbΪΙhΫΥhάαbέεbήηbίιbΰϋbϊιhϋυh"
    u"όοbύυbώωbϓϒbϔϒhЀЕaЁЕhЃГbЇІhЌКbЍИaЎУfЙИfйиfѐеaёеhѓгbїіhќкbѝиaўуfѶѴmѷѵmӁЖfӂжfӐАfӑаfӒАhӓаhӖЕf"
    u"ӗеfӚӘhӛәhӜЖhӝжhӞЗhӟзhӢИeӣиeӤИhӥиhӦОhӧоhӪӨhӫөhӬЭhӭэhӮУeӯуeӰУhӱуhӲУkӳуkӴЧhӵчhӸЫhӹыhḀAtḁatḂBg"
    u"ḃbgḄBrḅbrḆBAḇbAḈÇbḉçbḊDgḋdgḌDrḍdrḎDAḏdAḐDvḑdvḒDxḓdxḔĒaḕēaḖĒbḗēbḘExḙexḚEzḛezḜȨfḝȩfḞFgḟfgḠGe"
    u"ḡgeḢHgḣhgḤHrḥhrḦHhḧhhḨHvḩhvḪHyḫhyḬIzḭizḮÏbḯïbḰKbḱkbḲKrḳkrḴKAḵkAḶLrḷlrḸḶeḹḷeḺLAḻlAḼLxḽlxḾMb"
    u"ḿmbṀMgṁmgṂMrṃmrṄNgṅngṆNrṇnrṈNAṉnAṊNxṋnxṌÕbṍõbṎÕhṏõhṐŌaṑōaṒŌbṓōbṔPbṕpbṖPgṗpgṘRgṙrgṚRrṛrrṜṚe"
    u"ṝṛeṞRAṟrAṠSgṡsgṢSrṣsrṤŚgṥśgṦŠgṧšgṨṢgṩṣgṪTgṫtgṬTrṭtrṮTAṯtAṰTxṱtxṲUsṳusṴUzṵuzṶUxṷuxṸŨbṹũbṺŪh"
    u"ṻūhṼVdṽvdṾVrṿvrẀWaẁwaẂWbẃwbẄWhẅwhẆWgẇwgẈWrẉwrẊXgẋxgẌXhẍxhẎYgẏygẐZcẑzcẒZrẓzrẔZAẕzAẖhAẗthẘwj"
    u"ẙyjẛſgẠArạarẢAiảaiẤÂbấâbẦÂaầâaẨÂiẩâiẪÂdẫâdẬẠcậạcẮĂbắăbẰĂaằăaẲĂiẳăiẴĂdẵădẶẠfặạfẸErẹerẺEiẻei"
    u"ẼEdẽedẾÊbếêbỀÊaềêaỂÊiểêiỄÊdễêdỆẸcệẹcỈIiỉiiỊIrịirỌOrọorỎOiỏoiỐÔbốôbỒÔaồôaỔÔiổôiỖÔdỗôdỘỌcộọc"
    u"ỚƠbớơbỜƠaờơaỞƠiởơiỠƠdỡơdỢƠrợơrỤUrụurỦUiủuiỨƯbứưbỪƯaừưaỬƯiửưiỮƯdữưdỰƯrựưrỲYaỳyaỴYrỵyrỶYiỷyi"
    u"ỸYdỹydἀαoἁαpἂἀaἃἁaἄἀbἅἁbἆἀCἇἁCἈΑoἉΑpἊἈaἋἉaἌἈbἍἉbἎἈCἏἉCἐεoἑεpἒἐaἓἑaἔἐbἕἑbἘΕoἙΕpἚἘaἛἙaἜἘbἝἙb"
    u"ἠηoἡηpἢἠaἣἡaἤἠbἥἡbἦἠCἧἡCἨΗoἩΗpἪἨaἫἩaἬἨbἭἩbἮἨCἯἩCἰιoἱιpἲἰaἳἱaἴἰbἵἱbἶἰCἷἱCἸΙoἹΙpἺἸaἻἹaἼἸbἽἹb"
    u"ἾἸCἿἹCὀοoὁοpὂὀaὃὁaὄὀbὅὁbὈΟoὉΟpὊὈaὋὉaὌὈbὍὉbὐυoὑυpὒὐaὓὑaὔὐbὕὑbὖὐCὗὑCὙΥpὛὙaὝὙbὟὙCὠωoὡωpὢὠaὣὡa"
    u"ὤὠbὥὡbὦὠCὧὡCὨΩoὩΩpὪὨaὫὩaὬὨbὭὩbὮὨCὯὩCὰαaὲεaὴηaὶιaὸοaὺυaὼωaᾀἀDᾁἁDᾂἂDᾃἃDᾄἄDᾅἅDᾆἆDᾇἇDᾈἈDᾉἉDᾊἊD"
    u"ᾋἋDᾌἌDᾍἍDᾎἎDᾏἏDᾐἠDᾑἡDᾒἢDᾓἣDᾔἤDᾕἥDᾖἦDᾗἧDᾘἨDᾙἩDᾚἪDᾛἫDᾜἬDᾝἭDᾞἮDᾟἯDᾠὠDᾡὡDᾢὢDᾣὣDᾤὤDᾥὥDᾦὦDᾧὧDᾨὨD"
    u"ᾩὩDᾪὪDᾫὫDᾬὬDᾭὭDᾮὮDᾯὯDᾰαfᾱαeᾲὰDᾳαDᾴάDᾶαCᾷᾶDᾸΑfᾹΑeᾺΑaᾼΑD῁¨CῂὴDῃηDῄήDῆηCῇῆDῈΕaῊΗaῌΗD῍᾿a῎᾿b῏᾿C"
    u"ῐιfῑιeῒϊaῖιCῗϊCῘΙfῙΙeῚΙa῝῾a῞῾b῟῾CῠυfῡυeῢϋaῤρoῥρpῦυCῧϋCῨΥfῩΥeῪΥaῬΡp῭¨aῲὼDῳωDῴώDῶωCῷῶDῸΟaῺΩa"
    u"ῼΩD↚←B↛→B↮↔B⇍⇐B⇎⇔B⇏⇒B∄∃B∉∈B∌∋B∤∣B∦∥B≁∼B≄≃B≇≅B≉≈B≠=B≢≡B≭≍B≮<B≯>B≰≤B≱≥B≴≲B≵≳B≸≶B≹≷B⊀≺B⊁≻B⊄⊂B"
    u"⊅⊃B⊈⊆B⊉⊇B⊬⊢B⊭⊨B⊮⊩B⊯⊫B⋠≼B⋡≽B⋢⊑B⋣⊒B⋪⊲B⋫⊳B⋬⊴B⋭⊵BがかEぎきEぐくEげけEごこEざさEじしEずすEぜせEぞそEだたEぢちEづつEでてEどとE"
    u"ばはEぱはFびひEぴひFぶふEぷふFべへEぺへFぼほEぽほFゔうEゞゝEガカEギキEグクEゲケEゴコEザサEジシEズスEゼセEゾソEダタEヂチEヅツEデテEドトEバハEパハFビヒE"
    u"ピヒFブフEプフFベヘEペヘFボホEポホFヴウEヷワEヸヰEヹヱEヺヲEヾヽE";

constexpr std::size_t kEntry = 3;

// Hangul is computed (Unicode, section 3.12).
constexpr char32_t kSyllables = 0xac00, kLead = 0x1100, kVowel = 0x1161, kTail = 0x11a7;
constexpr char32_t kVowels = 21, kTails = 28, kLeads = 19;

char32_t CombiningOf(char16_t letter) {
  return letter >= u'a' ? kCombining[letter - u'a'] : kCombining[26 + letter - u'A'];
}

}  // namespace

void AppendDecomposed(char32_t point, std::u32string& out) {
  constexpr char32_t kFirst = kPairs[0];
  if (point >= kSyllables && point < kSyllables + kLeads * kVowels * kTails) {
    const char32_t index = point - kSyllables;
    out.push_back(kLead + index / (kVowels * kTails));
    out.push_back(kVowel + index / kTails % kVowels);
    if (index % kTails != 0) out.push_back(kTail + index % kTails);
    return;
  }
  const auto entries = std::views::iota(std::size_t{0}, kPairs.size() / kEntry);
  const auto found = std::ranges::lower_bound(
      entries, point, {}, [](std::size_t entry) -> char32_t { return kPairs[entry * kEntry]; });
  const std::size_t at = found == entries.end() ? 0 : *found * kEntry;
  if (point < kFirst || kPairs[at] != point) {
    out += point;
    return;
  }
  AppendDecomposed(kPairs[at + 1], out);
  out += CombiningOf(kPairs[at + 2]);
}

}  // namespace pa
