import HeraldTools
import Testing

@Suite("CSV files")
struct CSVTests {
    @Test(
        "Cells are quoted where necessary, and are inert in a spreadsheet",
        arguments: [
            ("plain", "plain"), ("a,b", "\"a,b\""), ("say \"hi\"", "\"say \"\"hi\"\"\""), ("=1+1", "'=1+1"),
            ("+49 30", "'+49 30"), ("-2+3", "'-2+3"), ("-17", "-17"), ("@sum(a)", "'@sum(a)"), ("|calc", "'|calc"),
            ("  =1+1", "'  =1+1"), ("\t=1+1", #"\t=1+1"#), ("a\r\nb", #"a\r\nb"#), ("", ""),
            ("\u{1B}[31mred", #"\u{1B}[31mred"#), ("\u{202E}evil", #"\u{202E}evil"#),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("＝1", "'＝1"), (" x ", "\" x \""),
            ("=\u{301}1+1", "'=\u{301}1+1"), ("-\u{20E3}1+cmd()", "'-\u{20E3}1+cmd()"), ("@\u{FE0F}x", "'@\u{FE0F}x"),
            ("\u{A0}=1", "'\u{A0}=1"), ("\u{200B}=1", "'\u{200B}=1"), ("\u{3000}+1", "'\u{3000}+1"),
            ("a;=1+1", "\"a;'=1+1\""), ("a; \"=1;-2;@x;", "\"a;' \"\"=1;-2;'@x;\""), (";=1", "\";'=1\""),
            ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("a,\u{301}b", "\"a,\u{301}b\""), ("\r\n=1", #"\r\n=1"#),
            (" \u{301}x", "\" \u{301}x\""), ("-1\u{301}", "'-1\u{301}"), ("-", "'-"),
        ])
    func cells(text: String, cell: String) {
        #expect(CSVText.line([text]) == cell + "\r\n")
    }
}
